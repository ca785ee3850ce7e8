#!/usr/bin/env bash
# Makes sure that tmux and git are here. As root on Debian it installs what is missing; else it prints the line to type.
set -euo pipefail

missing=()
for tool in tmux git; do
  command -v "$tool" >/dev/null 2>&1 || missing+=("$tool")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -eq 0 ] && [ -f /etc/debian_version ] && command -v apt-get >/dev/null 2>&1; then
  echo "installing ${missing[*]} with apt-get" >&2
  export DEBIAN_FRONTEND=noninteractive
  { apt-get -qq update && apt-get -qq install -y --no-install-recommends "${missing[@]}"; } >/dev/null
  exit 0
fi

case "$(uname -s)" in
  Darwin) line="brew install ${missing[*]}" ;;
  *) line="sudo apt-get install ${missing[*]}" ;;
esac
echo "error: ${missing[*]} not found; to install, type: $line" >&2
exit 1
