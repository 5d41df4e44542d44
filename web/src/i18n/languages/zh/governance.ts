import type { Texts } from '../../texts.ts';

export const approvals: Texts['approvals'] = {
  lead: '按策略，只有经人同意才会执行的调用。',
  waiting: '等待中',
  decided: '已决定',
  emptyTitle: '没有等待的调用',
  emptyText: '带有 @approve 的策略会在调用发往服务器之前在此询问。',
  by: '来自 {{caller}}',
  admins: '询问管理员',
  group: '询问分组 {{group}}',
  expires: '{{time}}到期',
  arguments: '将要发送的参数',
  cut: '参数比这里显示的更长。',
  approve: '批准',
  deny: '拒绝',
  states: {
    waiting: '等待中',
    approved: '已批准',
    used: '已批准并执行',
    denied: '已拒绝',
    expired: '已过期',
    withdrawn: '已撤回',
  },
};

export const pins: Texts['pins'] = {
  lead: '服务器自首次看到或批准以来的更改。工具的文字会引导模型：请比较后再批准。',
  emptyTitle: '没有更改',
  emptyText: '每个服务器提供的都是首次看到或已批准的内容。',
  approveAll: '全部批准',
  approveAllTitle: '批准 {{server}} 的全部更改？',
  approveAllText_other: '{{number}} 项更改将生效。',
  approve: '批准',
  reject: '隐藏',
  before: '之前',
  now: '现在',
  since: '发现于 {{time}}',
  more_other: '还有 {{number}} 项，处理完这些后显示。',
  kinds: {
    tool: '工具',
    prompt: '提示词',
    resource: '资源',
    resourceTemplate: '模板',
    instructions: '说明',
  },
  states: {
    approved: '已批准',
    changed: '已更改',
    new: '新增',
    gone: '已消失',
    renamed: '已改名',
    rejected: '已隐藏',
  },
  risks: {
    low: '请查看',
    high: '有风险',
  },
};
