import type { Texts } from '../../texts.ts';

export const palette: Texts['palette'] = {
  title: '全局搜索',
  open: '搜索…',
  placeholder: '服务器、工具、分组、页面、操作',
  found_other: '{{number}} 个结果',
  kinds: {
    page: '页面',
    action: '操作',
    server: '服务器',
    group: '分组',
    tool: '工具',
    key: '密钥',
    user: '用户',
  },
  reconnect: '重新连接 {{name}}',
  paste: '粘贴配置以添加服务器',
  policy: '添加策略',
  theme: '切换主题：{{theme}}',
  keys: '键盘快捷键',
  keysText: '在输入框中输入时，或对话框打开时，它们不起作用。',
  everywhere: '所有页面',
  pages: '前往页面',
  records: '打开调用时：下一条和上一条',
  slash: '在此页面搜索',
  escape: '关闭，或清空搜索',
};
