"""What the cases are declared with."""


class Call:
    """One call; options: m (method), kw, mode, seed, cont, grad."""

    def __init__(self, *args, **options):
        self.args, self.options = args, options


def calls(*entries, **options):
    """Calls of a function or of a module's methods: tuples of arguments or Call. Options: init, trace, eval, freeze."""

    def mark(target):
        target.calls = [e if isinstance(e, Call) else Call(*e) for e in entries]
        target.options = options
        return target

    return mark
