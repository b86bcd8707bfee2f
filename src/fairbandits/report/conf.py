"""Settings of Sphinx for the report site, which loads nothing from other sites."""

from importlib import metadata

project = "fairbandits"
html_title = project

extensions = ["myst_nb", "sphinx_design", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"
nb_merge_streams = True
nb_render_markdown_format = "myst"
suppress_warnings = ["mystnb.unknown_mime_type"]

# one file of its package; the extension itself would copy 27 MB
_MATHJAX = "tex-svg-full.js"
html_static_path = ["custom.css", "site.js", "favicon.svg"] + [
    str(file.locate())
    for file in metadata.files("sphinx-mathjax-offline") or []
    if file.parts[-2:] == ("mathjax", _MATHJAX)
]
mathjax_path = _MATHJAX

templates_path = ["templates"]
html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "search_bar_text": "Search claims and pages",
    "show_toc_level": 2,
    "show_prev_next": False,
    "navbar_align": "left",
    "navbar_center": ["menu"],
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "article_footer_items": ["made-by"],
    "footer_start": [],
    "footer_end": [],
    "back_to_top_button": False,
}
html_context = {"default_mode": "auto"}
html_sidebars = {"**": []}
html_css_files = ["custom.css"]
html_js_files = ["site.js"]
html_favicon = "favicon.svg"
html_use_index = False
html_domain_indices = False
html_copy_source = False
html_show_sourcelink = False
