"""placeholder while the derived bounds are written"""
import numpy as np
def error_bounds(graph, arguments):
    return tuple(np.full(o.shape, 1e-3) for o in graph.outputs)
