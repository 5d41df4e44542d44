import { sandboxReasons } from './sandbox-reasons.ts';
import type { ReasonTexts } from '../../hub-texts.ts';

/** 服务器无法连接的原因，按名称；英文由 Hub 给出。 */
export const reasons: ReasonTexts = {
  command_not_found: {
    text: '在 PATH 中找不到命令“{{command}}”。',
    advice: '请在 Hub 所在的机器上安装它，或填写绝对路径。',
  },
  command_misspelled: {
    text: '在 PATH 中找不到命令“{{command}}”。',
    advice: '是否想写“{{suggestion}}”？否则请安装它，或填写绝对路径。',
  },
  launcher_not_found: {
    text: '在 PATH 中找不到命令“{{command}}”。',
    advice: '请在 Hub 所在的机器上安装 {{product}}，或填写绝对路径。',
  },
  file_not_found: { text: '“{{command}}”不存在。', advice: '请更正“命令”中的路径。' },
  folder_not_found: { text: '工作目录“{{folder}}”不存在。', advice: '请创建该目录，或更正 "cwd"。' },
  not_executable: { text: '“{{command}}”没有执行权限。', advice: '请检查其权限（chmod +x），或通过解释器启动它。' },
  ...sandboxReasons,
  no_room: { text: '系统无法再启动新进程（{{error}}）。', advice: '请结束其他程序，或提高进程数和打开文件数的限制。' },
  npm_package_not_found: {
    text: 'npm 注册表中没有软件包“{{package}}”，或它是私有的。',
    advice: '请检查“参数”中的名称；私有软件包需要在 .npmrc 中配置令牌。',
  },
  python_package_not_found: {
    text: '没有可安装的 Python 软件包“{{package}}”。',
    advice: '请检查“参数”中的名称和版本。',
  },
  package_version_not_found: {
    text: '软件包存在，但没有所要求的版本：{{package}}。',
    advice: '请更正“参数”中的版本，或不写版本。',
  },
  package_without_program: {
    text: '软件包已安装，但其中没有可运行的程序。',
    advice: '请检查“参数”中的名称：它可能是一个库，或程序使用另一个名称（npx -p <软件包> <程序>）。',
  },
  image_not_found: {
    text: '无法获取镜像“{{image}}”：它不存在，或是私有的。',
    advice: '请检查“参数”中的名称和标签，或登录其注册表（docker login）。',
  },
  docker_not_running: { text: 'Docker 没有响应。', advice: '请启动 Docker，并用 "docker version" 检查。' },
  registry_refused: { text: '软件包注册表拒绝了请求（{{code}}）。', advice: '请检查 .npmrc 中的令牌。' },
  registry_unreachable: {
    text: '无法访问软件包注册表（{{code}}）。',
    advice: '请检查 Hub 所在机器的网络、DNS 和代理。',
  },
  disk_full: { text: '磁盘已满。', advice: '请在 Hub 所在的机器上腾出空间。' },
  module_not_found: { text: '程序缺少模块“{{module}}”。', advice: '请在程序启动的目录或环境中安装它所需的依赖。' },
  script_not_found: {
    text: '要运行的文件“{{file}}”不存在。',
    advice: '请更正“参数”中的路径；相对路径以 "cwd" 为起点。',
  },
  program_not_found: {
    text: '该命令要运行“{{command}}”，但找不到它。',
    advice: '请在 Hub 所在的机器上安装它，或更正“参数”。',
  },
  value_missing: { text: '程序需要 {{name}}：{{line}}', advice: '请在“环境变量”中设置 {{name}}。' },
  value_refused: { text: '程序无法用所给的凭据登录：{{line}}', advice: '请检查“环境变量”中的令牌或密码。' },
  wrong_arguments: { text: '程序不接受这些参数：{{line}}', advice: '请更正“参数”。' },
  port_taken: { text: '程序需要的端口已被占用：{{line}}', advice: '请结束占用端口的程序，或为它换一个端口。' },
  not_permitted: { text: '程序没有使用某个文件或目录的权限：{{line}}', advice: '请给运行 Hub 的用户相应的权限。' },
  peer_unreachable: {
    text: '程序无法访问它所依赖的服务：{{line}}',
    advice: '请检查该服务是否在运行，以及给程序的地址是否正确。',
  },
  stdout_noise: {
    text: '服务器在 {{seconds}} 秒内没有应答。它向标准输出打印了不是 MCP 消息的内容：“{{line}}”。',
    advice: '请确认该命令启动的是使用 stdio 的 MCP 服务器；日志应写到标准错误。',
  },
  exited_after_noise: {
    text: '程序以代码 {{code}} 退出。它向标准输出打印了不是 MCP 消息的内容：“{{line}}”。',
    advice: '请确认该命令启动的是使用 stdio 的 MCP 服务器。',
  },
  exited: {
    text: '程序以代码 {{code}} 退出：{{line}}',
    advice: '最后几行输出有更多信息。请更正其中指出的问题，或命令及其参数。',
  },
  exited_silently: {
    text: '程序以代码 {{code}} 退出，没有说明原因。',
    advice: '请在 Hub 所在的机器上手动运行该命令，看看发生了什么。',
  },
  install_failed_silently: {
    text: '软件包的安装以代码 {{code}} 结束，没有说明原因。',
    advice:
      '可能是某个软件包的脚本失败了，例如下载浏览器的脚本。请在 Hub 所在的机器上手动运行该命令，并把 --foreground-scripts 作为第一个参数，这样会显示脚本的输出。',
  },
  killed: {
    text: '程序被信号 {{signal}} 结束。',
    advice: '如果是 SIGKILL，可能是系统内存不足；最后几行输出可能有更多信息。',
  },
  hung_up: {
    text: '程序关闭了 {{pipe}} 但仍在运行，因此被结束。',
    advice: '请确认该命令启动的是使用 stdio 的 MCP 服务器。',
  },
  silent: {
    text: '服务器在 {{seconds}} 秒内没有应答，也没有任何输出。',
    advice: '请确认该命令启动的是使用 stdio 的 MCP 服务器，并且没有在等待其他东西。',
  },
  slow: {
    text: '服务器在 {{seconds}} 秒内没有应答。它最后的输出：{{line}}',
    advice: '如果它只是需要更长时间，之后的尝试会给它更多时间；CONNECT_TIMEOUT_MS 可从一开始就延长。',
  },
  installs_long: {
    text: '软件包在 {{minutes}} 分钟内没有安装完成。',
    advice: '{{launcher}} 会继续安装，下一次尝试会等待它完成。',
  },
  credential_refused: {
    text: '{{where}} 返回 {{status}}：它不接受该凭据，或需要凭据。',
    advice: '请检查“请求头”中的令牌（Authorization）：可能缺失、过期，或属于另一个账号。',
  },
  credential_insufficient: {
    text: '{{where}} 返回 {{status}}：该凭据没有这项权限。',
    advice: '请给该令牌所需的权限，或换一个令牌。',
  },
  no_sign_in: {
    text: '{{where}} 需要凭据，但没有提供本 hub 可用的登录方式（OAuth）。',
    advice: '请在“请求头”中填写令牌（Authorization），或在 "oauth.issuer" 中指定其授权服务器。',
  },
  no_endpoint: {
    text: '{{where}} 返回 {{status}}。',
    advice: '这是它的 MCP 端点地址吗？许多地址以 /mcp 或 /sse 结尾。',
  },
  web_page: {
    text: '{{where}} 返回的是网页。',
    advice: '这是它的 MCP 端点地址吗？许多地址以 /mcp 或 /sse 结尾。',
  },
  not_mcp: { text: '{{where}} 返回 {{status}}，但内容不是 MCP 消息。', advice: '这是它的 MCP 端点地址吗？' },
  redirected: {
    text: '{{where}} 重定向到另一个来源 {{target}}，Hub 不会跟随。',
    advice: '如果那就是该服务器，请把它设为 URL。',
  },
  redirected_in_a_circle: {
    text: '{{where}} 重定向次数过多。',
    advice: '请在浏览器中打开该地址，并使用最终到达的地址。',
  },
  too_many_requests: {
    text: '{{where}} 返回 {{status}}：请求过多。',
    advice: 'Hub 会延长重试间隔；可能需要提高该账号的限额。',
  },
  server_fault: { text: '{{where}} 返回 {{status}}。', advice: '问题出在该服务器：请查看它自己的日志。' },
  silent_address: {
    text: '服务器在 {{seconds}} 秒内没有应答。',
    advice: '地址可以访问。请查看该服务器或其前面代理的日志。',
  },
  api_not_fetched: { text: '{{where}} 处的 OpenAPI 文档返回 {{status}}。', advice: '请检查 "openapi.url" 中的地址。' },
  api_credential: {
    text: '{{where}} 处的 OpenAPI 文档返回 {{status}}：它不对所有人开放。',
    advice: '请用 "openapi.specSecurity" 为它提供凭据。',
  },
  api_unreadable: {
    text: '无法读取 OpenAPI 文档：{{why}}。',
    advice: '请更正文档中的该处，或 "openapi.url" 中的地址。',
  },
  api_no_document: {
    text: '{{where}} 不是 OpenAPI 文档。',
    advice: '这是否是文档网页的地址，而不是文档本身的地址？',
  },
  api_swagger: {
    text: '{{where}} 是 Swagger 2.0 文档，无法读取。',
    advice: '请将其转换为 OpenAPI 3，例如使用 https://converter.swagger.io。',
  },
  api_version: {
    text: '{{where}} 没有说明自己是 OpenAPI 3。',
    advice: '其成员 "openapi" 必须为 "3.0.x" 或 "3.1.x"。',
  },
  api_without_operations: {
    text: 'OpenAPI 文档中没有可用的操作：{{why}}。',
    advice: '请更正文档，或使用该 API 其他版本的文档。',
  },
  api_failed: { text: '无法读取该 API：{{why}}', advice: '日志中有更多信息。如果文档没有问题，请反馈。' },
  port_closed: { text: '无法访问 {{where}}：连接被拒绝。', advice: '该服务器在运行吗？' },
  host_unknown: { text: '无法访问 {{where}}：找不到该主机名。', advice: '请检查 {{setting}} 中的地址以及 DNS。' },
  no_route: { text: '无法访问 {{where}}：没有通往该主机的路由（{{code}}）。', advice: '请检查网络和防火墙。' },
  no_connection_in_time: {
    text: '无法访问 {{where}}：在允许的时间内没有建立连接。',
    advice: '地址是否正确，是否在防火墙之后？',
  },
  tls_self_signed: { text: '无法访问 {{where}}：其证书是自签名的。', advice: '请用 NODE_EXTRA_CA_CERTS 添加该证书。' },
  tls_unknown_issuer: {
    text: '无法访问 {{where}}：其证书的颁发者未知。',
    advice: '请用 NODE_EXTRA_CA_CERTS 添加颁发者的证书。',
  },
  tls_expired: { text: '无法访问 {{where}}：其证书已过期。', advice: '需要在该服务器上更新证书。' },
  tls_not_valid_yet: { text: '无法访问 {{where}}：其证书尚未生效。', advice: '请检查系统时间。' },
  tls_other_name: { text: '无法访问 {{where}}：其证书属于另一个主机名。', advice: '请使用证书中的主机名。' },
  tls_not_spoken: { text: '无法访问 {{where}}：它不支持 TLS。', advice: '地址是否应以 http:// 开头？' },
  tls_failed: { text: '无法访问 {{where}}：无法建立安全连接（{{code}}）。', advice: '请检查双方支持的 TLS 版本。' },
  http_not_spoken: { text: '无法访问 {{where}}：它不支持 HTTP。', advice: '端口是否正确？' },
  sign_in_needed: { text: '该服务器要求登录。', advice: '请在控制台中它的页面上登录一次。' },
};
