"""A Sphinx extension for the form of pages: each figure in a light and a dark variant, and no script that goes unused.

Notebooks hold one variant of a figure, the light one. When the book is built, its greys are inverted (white becomes the
page, black the ink); other colours stay as they are, so that a caption is true in both themes. Marks drawn on a picture
(a matrix, a map) also keep their colours, as does the picture itself, and so does a mark in a colour of a picture,
which a colour bar explains.
"""

from __future__ import annotations

import base64
import io
import os
import re
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

PAGE, INK = (0x12, 0x12, 0x12), (0xCE, 0xD6, 0xDD)  # background and text of the theme's dark pages
DARKEST = 0.14  # relative luminance of a colour on a dark page: a contrast of 3 or more, as WCAG asks of graphics
SVG, LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_COLOUR = re.compile("#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})")
_PLACE = re.compile(r"(?:translate\(|M )(-?[\d.]+) (-?[\d.]+)")


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx, which calls this, and tell it that pages may be read side by side."""
    app.connect("doctree-read", _add_variants, priority=400)  # before Sphinx collects the images
    app.connect("html-page-context", _leave_out_thebe, priority=900)
    return {"parallel_read_safe": True}


def darkened(svg: str) -> str:
    """Turn a figure of matplotlib, an SVG, into its variant for a dark page."""
    for name, address in (("", SVG), ("xlink", LINK)):
        ElementTree.register_namespace(name, address)
    root = ElementTree.fromstring(svg)
    root.set("fill", turned("#000000"))  # matplotlib does not write what is black
    _recolour(root, _explained(root))
    return ElementTree.tostring(root, encoding="unicode")


def turned(colour: str) -> str:
    """A colour "#rrggbb" on a dark page: grey is inverted, a dark colour becomes lighter, any other one stays."""
    red, green, blue = (int(part, 16) for part in _COLOUR.fullmatch(colour).groups())  # type: ignore[union-attr]
    if red == green == blue:
        mixed = [ink + (page - ink) * red / 255 for ink, page in zip(INK, PAGE, strict=True)]
    else:
        mixed, white = [red, green, blue], 0
        while _luminance(mixed) < DARKEST:
            white += 1 / 64
            mixed = [part + (255 - part) * white for part in (red, green, blue)]
    return "#" + "".join(f"{round(part):02x}" for part in mixed)


def _luminance(colour):
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (c / 255 for c in colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _explained(root: Element) -> set[str]:
    """The colours, except greys, of the pictures of a figure, including colour bars."""
    found: set[str] = set()
    for part in root.iter():
        if part.get("id", "").startswith("QuadMesh"):
            found.update(f"#{''.join(rgb)}" for rgb in _COLOUR.findall(ElementTree.tostring(part, encoding="unicode")))
        if part.tag == f"{{{SVG}}}image":
            pixels = _pixels(part).convert("RGB")
            found.update("#" + bytes(rgb).hex() for _, rgb in pixels.getcolors(pixels.width * pixels.height) or ())
    return {colour for colour in found if len({colour[1:3], colour[3:5], colour[5:]}) > 1}


def _pixels(image: Element) -> Any:
    from PIL import Image

    return Image.open(io.BytesIO(base64.b64decode(image.get(f"{{{LINK}}}href", "").partition(",")[2])))


def _is_picture(part):
    """Whether a part of axes covers them; many marks may also be an image, through which the page shows."""
    if part.tag == f"{{{SVG}}}image":
        pixels = _pixels(part).convert("RGBA")
        return pixels.getchannel("A").histogram()[0] < pixels.width * pixels.height / 2
    return part.get("id", "").startswith("QuadMesh")


def _recolour(element: Element, kept: set[str]) -> None:
    if "style" in element.attrib:
        style = _COLOUR.sub(lambda found: found[0] if found[0] in kept else turned(found[0]), element.get("style", ""))
        element.set("style", style)
    box = _pictured(element)
    for child in element:
        if box and _lies_in(child, box):
            child.set("fill", "#000000")
        else:
            _recolour(child, kept)


def _pictured(element):
    """The box of axes that hold a picture: left, top, right and bottom."""
    if not element.get("id", "").startswith("axes_"):
        return None
    drawn = [part for child in element if "axis" not in child.get("id", "") for part in child.iter()]
    if not any(map(_is_picture, drawn)):
        return None
    corners = re.findall(r"(-?[\d.]+) (-?[\d.]+)", element.find(f".//{{{SVG}}}path").get("d"))
    x, y = zip(*((float(a), float(b)) for a, b in corners), strict=True)
    return min(x), min(y), max(x), max(y)


def _lies_in(child, box):
    """Whether a part of axes belongs to the picture: it is clipped at its edge or, like words, starts inside."""
    if "axis" in child.get("id", ""):
        return False
    if any("clip-path" in part.attrib for part in child.iter()):
        return True
    places = (_PLACE.search(part.get("transform", "")) for part in child.iter() if "text" not in part.tag)
    place = next(filter(None, places), None)
    if place is None:  # spines, and the background of the axes, which shows where a picture has a hole
        return child.get("id") == "patch_2" or "fill: #ffffff" in "".join(
            part.get("style", "") for part in child.iter()
        )
    x, y = float(place[1]), float(place[2])
    return box[0] < x < box[2] and box[1] < y < box[3]


def _add_variants(app: Any, doctree: Any) -> None:
    from docutils import nodes

    for light in list(doctree.findall(nodes.image)):
        if not light["uri"].endswith(".svg"):
            continue
        beside = Path(app.srcdir) if light["uri"].startswith("/") else Path(app.env.doc2path(app.env.docname)).parent
        source = beside / light["uri"].lstrip("/")
        text = darkened(source.read_text(encoding="utf-8"))
        file = Path(app.doctreedir, "dark", f"{sha256(text.encode()).hexdigest()}.svg")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        dark = light.deepcopy()
        dark["uri"] = "/" + Path(os.path.relpath(file, app.srcdir)).as_posix()
        for image, time in ((light, "by-day"), (dark, "by-night")):
            image["classes"] = [*image["classes"], "dark-light", time]  # the theme leaves "dark-light" alone
        light.parent.insert(light.parent.index(light) + 1, dark)


def _leave_out_thebe(app: Any, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Drop the scripts of sphinx-thebe, which jupyter-book always loads: the book uses them nowhere."""
    scripts = context.get("script_files", [])
    context["script_files"] = [one for one in scripts if "thebe" not in f"{one.filename}{one.attributes}".lower()]
