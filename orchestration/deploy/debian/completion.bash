# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# bash completion of `millrace`: commands, their options, names of what runs, files.
_millrace() {
  local word=${COMP_WORDS[COMP_CWORD]} options="" folder names=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "@COMMANDS@ --help" -- "$word")
    return
  fi
  case ${COMP_WORDS[1]} in
@CASES@
  esac
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    return
  fi
  for folder in /run/millrace/*/ "${XDG_RUNTIME_DIR:-/nowhere}"/millrace/*/; do
    if [ -e "$folder/plan.bin" ]; then names+=" $(basename "$folder")"; fi
  done
  mapfile -t COMPREPLY < <(compgen -W "$names" -- "$word"; compgen -f -- "$word")
}
complete -o filenames -F _millrace millrace
