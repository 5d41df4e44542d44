/** Why a server in a sandbox does not start: a part of `reasons`. */
export const sandboxReasons = {
  sandbox_missing: {
    text: '该服务器应在沙箱中运行，但此机器上没有命令 "bwrap"（bubblewrap）。',
    advice: '请安装软件包 bubblewrap，或将该服务器的 "sandbox" 设为 false。',
  },
  container_missing: {
    text: '该服务器应在容器中运行，但此机器上既没有 "docker" 也没有 "podman"。',
    advice: '请安装其中之一，或从该服务器中移除 "container"。',
  },
  sandbox_forbidden: {
    text: '系统不允许 Hub 创建沙箱：{{line}}',
    advice: '请允许 Hub 的用户使用用户命名空间，或将该服务器的 "sandbox" 设为 false。',
  },
  sandbox_path: {
    text: '沙箱应包含的“{{path}}”不存在。',
    advice: '请创建它，或更正 "{{list}}"。',
  },
  sandbox_secret: {
    text: '“{{path}}”是或包含任何沙箱都不包含的内容：Hub 的数据目录或设置，或系统本身。',
    advice: '请在 "{{list}}" 中填写不含这些内容的目录，或将数据目录和设置移到其他位置。',
  },
  sandbox_nested: {
    text: '“{{path}}”位于沙箱可写入的目录之下，或经过这样的目录：程序可能在该处放置链接。',
    advice: '请在 "{{list}}" 中填写 "sandbox.write" 以外的路径。',
  },
  sandbox_program: {
    text: '程序“{{command}}”不在其沙箱中。',
    advice: '请将其目录添加到 "sandbox.read"。',
  },
};
