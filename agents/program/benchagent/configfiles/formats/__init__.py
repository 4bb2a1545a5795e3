"""Grammars of configuration files. `FORMATS` in `benchagent.configfiles` lists them."""
