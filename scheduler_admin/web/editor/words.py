"""The settings of queues in words, and what each may say where that is a choice."""

from django.utils.translation import gettext as _

Options = tuple[tuple[str, str], ...]
"""Text and word of each choice."""


def setting_name(setting: str) -> str:
    """A setting as people read it: ``guaranteed cpu``, ``namespaces``."""
    field, _slash, resource = setting.partition("/")
    words = {
        "guaranteed": _("guaranteed"),
        "max": _("max"),
        "preemption_policy": _("preemption"),
        "delay": _("delay"),
        "quota_delay": _("delay of a lowered max"),
        "priority_policy": _("priorities"),
        "priority_offset": _("priority offset"),
        "namespaces": _("namespaces"),
        "parent_declared": _("what it holds"),
        "evict_uncontrolled": _("pods without a controller"),
        "name": _("name"),
        "parent": _("parent"),
    }
    return f"{words.get(field, field)} {resource}".strip()


def options(setting: str) -> Options:
    """The choices of a setting; none where it is typed."""
    match setting:
        case "preemption_policy":
            return (("", _("default")), ("fence", _("fence")), ("disabled", _("disabled")))
        case "priority_policy":
            return (("", _("compared with all")), ("fence", _("compared inside only")))
        case "parent_declared":
            return (("", _("pods, or queues")), ("true", _("queues only")))
        case "evict_uncontrolled":
            return (("", _("are never victims")), ("true", _("may be victims")))
        case _:
            return ()


def text_in_words(setting: str, text: str) -> str:
    """What a setting says, for reading: the word of its choice, a dash for nothing."""
    return dict(options(setting)).get(text, text) or "–"
