import numpy as np

from scalestudy.ensembles import MODELS, Sizes, draw_flops


def test_draw_flops_grow_with_what_is_asked():
    sizes = Sizes(1000, 1000, 1000)
    everything = draw_flops(sizes, MODELS, "orthonormal")
    assert 2e9 < everything < 6e9
    assert draw_flops(sizes, ("Y",), "orthonormal") < everything
    assert draw_flops(sizes, MODELS, "spherical") > everything + 4e9
    assert draw_flops(sizes, MODELS, "parseval") > draw_flops(sizes, MODELS, "spherical")
    assert draw_flops(sizes, MODELS, np.eye(1000)) < draw_flops(sizes, MODELS, "spherical")
