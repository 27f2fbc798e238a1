# The image that the patcher starts from: the binary and nothing of a target.
group "default" {
  targets = ["patchwright"]
}

target "patchwright" {
  context    = "."
  dockerfile = "Dockerfile"
  tags       = ["patchwright:latest"]
}
