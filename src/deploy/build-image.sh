#!/usr/bin/env bash
# Builds the container image with buildah. Fails if it is too large.
#
#   src/deploy/build-image.sh [--base IMAGE | --local-base] TAG
#
# --base uses another Node image than the Containerfile. --local-base pulls nothing: it assembles a base image from
# the Node in node_modules and programs of this machine, for trials without a registry. A .npmrc in the home folder is
# used to install packages and is not copied to the image.
set -euo pipefail
cd "$(dirname "$0")/../.."

# Buildah's default isolation needs a runtime (crun, runc) and privileges that containers lack.
export BUILDAH_ISOLATION="${BUILDAH_ISOLATION:-chroot}"

# Maximum size that the image adds to its base, in bytes.
limit=30000000

base=()
local_base=
case "${1-}" in
  --base) base=(--build-arg "NODE_IMAGE=$2"); shift 2 ;;
  --local-base) local_base=localhost/shipment-booking-base; shift ;;
esac
tag="${1:?usage: build-image.sh [--base IMAGE | --local-base] TAG}"

containers=()
trap 'for it in "${containers[@]}"; do buildah rm "$it" >/dev/null; done' EXIT

# Creates a container from an image and mounts it. Sets $mounted to the folder.
mount_container() {
  local container
  container="$(buildah from --pull-never "$1")"
  containers+=("$container")
  mounted="$(buildah mount "$container")"
}

# Copies a program and its libraries.
copy_program() {
  local program="$1" root="$2" library
  install -D "$program" "$root/usr/local/bin/$(basename "$program")"
  for library in $(ldd "$program" 2>/dev/null | grep -o '/[^ ]*'); do
    [ -e "$root$library" ] || install -D "$library" "$root$library"
  done
}

# Copies the companion libraries of the C library, which are loaded by name.
copy_c_library() {
  local root="$1" folder name
  folder="$(dirname "$(ldd /bin/sh | grep -o '/[^ ]*/libc\.so\.6')")"
  for name in librt.so.1 libresolv.so.2 libutil.so.1 libnss_dns.so.2 libnss_files.so.2; do
    [ ! -f "$folder/$name" ] || install -D "$folder/$name" "$root$folder/$name"
  done
}

make_local_base() {
  local name npm authorities
  mount_container scratch
  mkdir -p "$mounted"/{bin,etc,proc,sys,dev,root,tmp,usr/local/lib/node_modules}
  chmod 1777 "$mounted/tmp"
  echo 'root:x:0:0::/root:/bin/sh' >"$mounted/etc/passwd"
  for name in sh env find rm tar gzip; do copy_program "$(command -v "$name")" "$mounted"; done
  ln -s /usr/local/bin/sh "$mounted/bin/sh"
  mkdir -p "$mounted/usr/bin" && ln -s /usr/local/bin/env "$mounted/usr/bin/env"
  copy_program "$(readlink -f node_modules/.bin/node)" "$mounted"
  copy_c_library "$mounted"
  npm="$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")"
  cp -r "$npm" "$mounted/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$mounted/usr/local/bin/npm"
  # This machine's trusted CAs, including private ones.
  authorities=/etc/ssl/certs/ca-certificates.crt
  [ ! -f "$authorities" ] || install -D --mode 644 "$authorities" "$mounted$authorities"
  buildah config --env PATH=/usr/local/bin --env "NODE_EXTRA_CA_CERTS=$authorities" "${containers[-1]}"
  buildah commit --quiet "${containers[-1]}" "$local_base" >/dev/null
}

if [ -n "$local_base" ]; then
  make_local_base
  base=(--build-arg "NODE_IMAGE=$local_base" --pull-never --volume "$(npm config get cache):/root/.npm")
fi
secret=()
[ ! -f ~/.npmrc ] || secret=(--secret "id=npmrc,src=$HOME/.npmrc")

# Docker format, because the OCI format does not support HEALTHCHECK.
buildah build --format docker --file src/deploy/Containerfile \
  --ignorefile src/deploy/Containerfile.dockerignore "${base[@]}" "${secret[@]}" \
  --build-arg "VERSION=$(node -p 'require("./package.json").version')" \
  --build-arg "REVISION=$(git rev-parse HEAD 2>/dev/null || echo unknown)" \
  --tag "$tag" .

# The image adds only /app to its base.
mount_container "$tag"
added="$(du --summarize --bytes "$mounted/app" | cut -f1)"
echo "$tag adds $((added / 1000000)) MB to its base"
if [ "$added" -gt "$limit" ]; then
  echo "the limit is $((limit / 1000000)) MB" >&2
  exit 1
fi
