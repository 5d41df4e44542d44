import type { Texts } from '../../texts.ts';

export const approvals: Texts['approvals'] = {
  lead: 'ポリシーにより、人の承認がなければ実行されない呼び出しです。',
  waiting: '承認待ち',
  decided: '決定済み',
  emptyTitle: '承認待ちはありません',
  emptyText: '@approve のあるポリシーは、呼び出しがサーバーへ送られる前にここで確認します。',
  by: '{{caller}} による',
  admins: '管理者に確認',
  group: 'グループ {{group}} に確認',
  expires: '期限 {{time}}',
  arguments: '送信される引数',
  cut: '引数は、ここに表示されているものより長くなっています。',
  approve: '承認',
  deny: '拒否',
  states: {
    waiting: '承認待ち',
    approved: '承認済み',
    used: '承認され実行済み',
    denied: '拒否',
    expired: '期限切れ',
    withdrawn: '取り下げ',
  },
};

export const pins: Texts['pins'] = {
  lead: '最初に確認または承認されてから、サーバーが変更した内容です。ツールの文章はモデルを動かします。比較してから承認してください。',
  emptyTitle: '変更はありません',
  emptyText: 'すべてのサーバーが、最初に確認または承認された内容を提供しています。',
  approveAll: 'すべて承認',
  approveAllTitle: '{{server}} のすべてを承認しますか？',
  approveAllText_other: '{{number}} 件の変更が有効になります。',
  approve: '承認',
  reject: '非表示',
  before: '変更前',
  now: '現在',
  since: '確認日時: {{time}}',
  more_other: '残り {{number}} 件は、これらが決定されると表示されます。',
  kinds: {
    tool: 'ツール',
    prompt: 'プロンプト',
    resource: 'リソース',
    resourceTemplate: 'テンプレート',
    instructions: '指示',
  },
  states: {
    approved: '承認済み',
    changed: '変更',
    new: '新規',
    gone: 'なくなった',
    renamed: '名前変更',
    rejected: '非表示',
  },
  risks: {
    low: '要確認',
    high: '危険',
  },
};
