import type { Texts } from '../../texts.ts';

export const traffic: Texts['traffic'] = {
  lead: '哪些客户端通过哪个端点调用哪些服务器：越宽调用越多，红色为失败。',
  leadOwn: '你的调用，从你的客户端到服务器：越宽调用越多，红色为失败。',
  hint: '点击名称可只看它的调用。',
  column: { client: '客户端', scope: '端点', server: '服务器', tool: '工具' },
  one: { client: '客户端', scope: '端点', server: '服务器' },
  noClient: '无名称（普通 HTTP）',
  all: '所有服务器',
  search: '搜索',
  searchIn: '在 {{name}} 中搜索',
  others_other: '另外 {{number}} 个',
  rest: '其他',
  calls_other: '{{number}} 次调用',
  failedOf_other: '{{number}} 次调用，{{failed}} 次失败',
  sum_other: '{{number}} 次调用，{{failed}} 次失败。图中不含被拒绝的调用。',
  list: '这些调用的列表',
  table: '以表格显示此图',
};
