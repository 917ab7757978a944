"""Shell completion, made from the parser itself."""

from __future__ import annotations

from typing import Any


def script(shell: str, top: Any) -> str:
    """What to source: ``source <(dualgap --completion bash)``."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](_words(top))


def _words(top: Any) -> dict[str, list[str]]:
    """Each command's options."""
    from dualgap.cli.parser import COMMANDS, commands_parser

    found = {}
    for name in COMMANDS:
        actions = commands_parser(top, name)._actions
        found[name] = sorted({word for action in actions for word in action.option_strings if word.startswith("--")})
    return found


def _bash(words: dict[str, list[str]]) -> str:
    cases = "\n".join(f"    {name}) words='{' '.join(options)}' ;;" for name, options in words.items())
    return f"""_dualgap() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" words=''
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{" ".join(words)} --help --version --completion' -- "$current"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}}
complete -o filenames -F _dualgap dualgap"""


def _zsh(words: dict[str, list[str]]) -> str:
    return "autoload -U +X bashcompinit && bashcompinit\n" + _bash(words)


def _fish(words: dict[str, list[str]]) -> str:
    lines = [f"complete -c dualgap -n __fish_use_subcommand -f -a '{' '.join(words)}'"]
    for name, options in words.items():
        lines += [f"complete -c dualgap -n '__fish_seen_subcommand_from {name}' -l {option[2:]}" for option in options]
    return "\n".join(lines)
