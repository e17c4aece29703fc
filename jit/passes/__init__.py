"""A functional graph in, a simpler one that computes the same out.

Files, in reading order:

    pipeline                           which passes run, in which order
    options                            what they may do
    notes                              what they did, in words
    rebuild                            the walk that most passes share
    effects                            which nodes may be dropped or merged
    commutative                        which ops may exchange their operands
    decompose                          rows with derivatives of their own become their steps
    canonicalize                       one way to write each call
    eliminate_casts                    no conversion that loses nothing
    pull_permutes                      permutations after pointwise calls, where they meet
    simplify_views                     fewer views
    join_slices                        no cutting apart to join again
    simplify_reductions                each reduction once, and of no more than changes
    fold_constants                     compute what no input changes
    fold_batch_norm                    scales of channels go into weights
    order_products                     chains of products in the cheapest order
    rewrite                            the engine for rules written as text
    rules                              the rules
    eliminate_common_subexpressions    each expression once
    eliminate_dead_code                only what is used
"""
