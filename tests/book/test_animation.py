"""Moving pictures: their frames, and their paper."""

import io

import pytest
from PIL import Image
from superposition.book import animation


def test_a_moving_picture_has_its_frames_and_white_paper():
    shown = animation.picture(lambda fig, i: fig.subplots().plot([0, i]), [1, 2, 3], size=(2, 1), dpi=40)
    assert shown.format == "png" and shown.width == 80
    image = Image.open(io.BytesIO(shown.data))
    assert image.n_frames == 3 and image.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
    with pytest.raises(ValueError, match="frames = 0 is out of range"):
        animation.picture(lambda fig, i: None, [])
    for bad in (0, -0.1):
        with pytest.raises(ValueError, match=r"^seconds = .* is out of range"):
            animation.picture(lambda fig, i: None, [0], seconds=bad)


def test_frames_stay_for_their_seconds_and_the_last_eight_times_as_long():
    shown = animation.picture(lambda fig, i: fig.subplots().plot([0, i]), [1, 2, 3], size=(2, 1), dpi=40, seconds=0.25)
    image, times = Image.open(io.BytesIO(shown.data)), []
    for frame in range(image.n_frames):
        image.seek(frame)
        times.append(image.info["duration"])
    assert times == [250, 250, 2000]


def test_each_frame_is_laid_out_to_fit_its_picture():
    laid_out = []
    animation.picture(lambda fig, i: laid_out.append(fig.get_layout_engine()), [1], size=(2, 1), dpi=40)
    assert [type(one).__name__ for one in laid_out] == ["ConstrainedLayoutEngine"]
