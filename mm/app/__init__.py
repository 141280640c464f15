"""Builds one agent from one configuration: the only place where concrete classes meet.

What a request does not need is imported inside the functions that are called once the request is on its way.
"""
