def kernel_0(lo, hi, t0, t1, s0, status):
    n_16 = u64(16)
    n_8 = u64(8)
    n_0 = u64(0)
    n_1 = u64(1)
    n_2 = u64(2)
    n_3 = u64(3)
    n_4 = u64(4)
    n_5 = u64(5)
    n_6 = u64(6)
    n_7 = u64(7)
    for i0 in range(lo, hi):  # <text>:5, <text>:8, <text>:4, <text>:6, <text>:7, <text>:9
        row0 = local_f32(16)
        r0_lanes = local_f32(16)  # <text>:5
        for lane1 in range(n_16):  # <text>:5
            r0_lanes[lane1] = f32(-1e400)  # <text>:5
        blocks2 = (n_16) // n_16  # <text>:5
        for block3 in range(blocks2):  # <text>:5
            for lane1 in range(n_16):  # <text>:5
                i1 = block3*n_16 + lane1  # <text>:5
                v0 = t0[i0*n_16 + i1]  # <text>:4
                v1 = t1[i1]  # <text>:4
                v2 = v0 + v1  # <text>:4
                r0_lanes[lane1] = maximum(r0_lanes[lane1], v2)  # <text>:5
        for lane1 in range(n_8):  # <text>:5
            r0_lanes[lane1] = maximum(r0_lanes[lane1], r0_lanes[n_8 + lane1])  # <text>:5
        r0 = maximum(maximum(maximum(r0_lanes[n_0], r0_lanes[n_1]), maximum(r0_lanes[n_2], r0_lanes[n_3])), maximum(maximum(r0_lanes[n_4], r0_lanes[n_5]), maximum(r0_lanes[n_6], r0_lanes[n_7])))  # <text>:5
        r1_lanes = local_f32(16)  # <text>:8
        for lane4 in range(n_16):  # <text>:8
            r1_lanes[lane4] = f32(0.0)  # <text>:8
        blocks5 = (n_16) // n_16  # <text>:8
        for block6 in range(blocks5):  # <text>:8
            for lane4 in range(n_16):  # <text>:8
                i1 = block6*n_16 + lane4  # <text>:8
                v3 = t0[i0*n_16 + i1]  # <text>:4
                v4 = t1[i1]  # <text>:4
                v5 = v3 + v4  # <text>:4
                v6 = v5 - r0  # <text>:6
                v7 = exp(v6)  # <text>:7
                row0[i1] = v7
                r1_lanes[lane4] = r1_lanes[lane4] + v7  # <text>:8
        for lane4 in range(n_8):  # <text>:8
            r1_lanes[lane4] = r1_lanes[lane4] + r1_lanes[n_8 + lane4]  # <text>:8
        r1 = ((r1_lanes[n_0] + r1_lanes[n_1]) + (r1_lanes[n_2] + r1_lanes[n_3])) + ((r1_lanes[n_4] + r1_lanes[n_5]) + (r1_lanes[n_6] + r1_lanes[n_7]))  # <text>:8
        for l0 in range(n_16):  # <text>:4, <text>:6, <text>:7, <text>:9
            v12 = row0[l0]  # <text>:7
            v13 = v12 / r1  # <text>:9
            t0[i0*n_16 + l0] = v13  # <text>:9

def kernel_1(lo, hi, t0, t1, s0, status):
    n_64 = u64(64)
    n_16 = u64(16)
    n_32 = u64(32)
    n_8 = u64(8)
    n_0 = u64(0)
    for once in range(lo, hi):
        r0_lanes = local_f32(64)  # <text>:10
        for lane1 in range(n_64):  # <text>:10
            r0_lanes[lane1] = f32(0.0)  # <text>:10
        blocks2 = (s0*n_16) // n_64  # <text>:10
        for block3 in range(blocks2):  # <text>:10
            for lane1 in range(n_64):  # <text>:10
                i0 = block3*n_64 + lane1  # <text>:10
                v0 = t0[i0]  # <text>:10
                r0_lanes[lane1] = r0_lanes[lane1] + v0  # <text>:10
        for lane1 in range(s0*n_16 - blocks2*n_64):  # <text>:10
            i0 = blocks2*n_64 + lane1  # <text>:10
            v0 = t0[i0]  # <text>:10
            r0_lanes[lane1] = r0_lanes[lane1] + v0  # <text>:10
        for lane1 in range(n_32):  # <text>:10
            r0_lanes[lane1] = r0_lanes[lane1] + r0_lanes[n_32 + lane1]  # <text>:10
        for lane1 in range(n_16):  # <text>:10
            r0_lanes[lane1] = r0_lanes[lane1] + r0_lanes[n_16 + lane1]  # <text>:10
        for lane1 in range(n_8):  # <text>:10
            r0_lanes[lane1] = r0_lanes[lane1] + r0_lanes[n_8 + lane1]  # <text>:10
        r0 = ((r0_lanes[n_0] + r0_lanes[u64(1)]) + (r0_lanes[u64(2)] + r0_lanes[u64(3)])) + ((r0_lanes[u64(4)] + r0_lanes[u64(5)]) + (r0_lanes[u64(6)] + r0_lanes[u64(7)]))  # <text>:10
        t1[n_0] = r0  # <text>:10

layout_0 = row_major(())
def run_layer(inputs):
    in_x, in_w, in_b = arrays(inputs, b'rrr')
    s0 = in_x.shape[0]
    v_1 = empty((s0, 16), f32, 64*s0)
    matmul_0(in_x, strided(in_w, (8, 16), (1, 8), 0), v_1)
    v_7 = v_1
    kernel_0(s0, (v_1, in_b), (s0,), (), 56.1)
    del v_1
    v_8 = empty((), f32, 4)
    kernel_1(1, (v_7, v_8), (s0,), (), (32*s0 + 3) / 10)
    return [tensor(v_7, row_major((s0, 16)), F32, 64*s0), tensor(v_8, layout_0, F32, 4)]
