import type { Texts } from '../../texts.ts';

export const login: Texts['login'] = {
  title: '登录',
  username: '用户名',
  password: '密码',
  submit: '登录',
  expired: '会话已结束。重新登录后将回到之前的位置。',
  first: '第一次使用？',
  firstHint:
    'Hub 首次启动时在终端里打印了 “admin” 的密码；如果输出的是日志，日志会指出保存密码的文件。丢失了？请设置 ADMIN_PASSWORD 并使用新的设置文件启动，或联系其他管理员。',
  lead: '一个地址，连接你所有的 MCP 工具服务器。',
  withProvider: '使用 {{name}} 登录',
  goOnAs: '以 {{name}} 的身份继续',
  withPassword: '使用密码登录',
};

export const fresh: Texts['fresh'] = {
  title: '请再次输入密码',
  text: '你登录已超过 10 分钟。接下来的操作需要近期的登录。',
  go: '继续',
};

export const strength: Texts['strength'] = {
  weak: '弱。',
  fair: '一般：越长越好。',
  good: '良好。',
  strong: '强。',
  short: '太短：该长度的所有密码都可以被逐一尝试。',
  common: '它是最常见的密码之一，或与之接近。',
  name: '它就是用户名，或与之接近。',
  product: '它就是本程序的名称，或与之接近。',
  repeated: '它重复同样的几个字符。',
  sequence: '它是字母表、数字或键盘上的连续序列。',
};
