import { sandboxReasons } from './sandbox-reasons.ts';
import type { HubTexts } from '../../hub-texts.ts';

export const reasons: HubTexts['reasons'] = {
  command_not_found: {
    text: 'コマンド「{{command}}」が PATH に見つかりません。',
    advice: 'ハブのマシンにインストールするか、絶対パスを指定してください。',
  },
  command_misspelled: {
    text: 'コマンド「{{command}}」が PATH に見つかりません。',
    advice:
      '「{{suggestion}}」の間違いではありませんか？そうでなければ、インストールするか、絶対パスを指定してください。',
  },
  launcher_not_found: {
    text: 'コマンド「{{command}}」が PATH に見つかりません。',
    advice: 'ハブのマシンに {{product}} をインストールするか、絶対パスを指定してください。',
  },
  file_not_found: { text: '「{{command}}」は存在しません。', advice: '「コマンド」のパスを修正してください。' },
  folder_not_found: {
    text: '作業ディレクトリ「{{folder}}」は存在しません。',
    advice: 'ディレクトリを作成するか、"cwd" を修正してください。',
  },
  not_executable: {
    text: '「{{command}}」に実行権限がありません。',
    advice: '権限を確認する (chmod +x) か、インタープリター経由で起動してください。',
  },
  ...sandboxReasons,
  no_room: {
    text: 'システムはこれ以上プロセスを起動できません ({{error}})。',
    advice: '他のプログラムを終了するか、プロセス数とオープンファイル数の上限を引き上げてください。',
  },
  npm_package_not_found: {
    text: 'npm レジストリにパッケージ「{{package}}」がないか、非公開です。',
    advice: '「引数」の名前を確認してください。非公開の場合は .npmrc にトークンが必要です。',
  },
  python_package_not_found: {
    text: 'インストールできる Python パッケージ「{{package}}」がありません。',
    advice: '「引数」の名前とバージョンを確認してください。',
  },
  package_version_not_found: {
    text: 'パッケージはありますが、指定されたバージョンがありません: {{package}}',
    advice: '「引数」のバージョンを修正するか、省略してください。',
  },
  package_without_program: {
    text: 'パッケージはインストールされましたが、実行できるプログラムが含まれていません。',
    advice:
      '「引数」の名前を確認してください。ライブラリであるか、プログラム名が異なる可能性があります (npx -p <パッケージ> <プログラム>)。',
  },
  image_not_found: {
    text: 'イメージ「{{image}}」を取得できません。存在しないか、非公開です。',
    advice: '「引数」の名前とタグを確認するか、レジストリにログインしてください (docker login)。',
  },
  docker_not_running: {
    text: 'Docker が応答しません。',
    advice: 'Docker を起動し、"docker version" で確認してください。',
  },
  registry_refused: {
    text: 'パッケージレジストリが要求を拒否しました ({{code}})。',
    advice: '.npmrc のトークンを確認してください。',
  },
  registry_unreachable: {
    text: 'パッケージレジストリに接続できません ({{code}})。',
    advice: 'ハブのマシンのネットワーク、DNS、プロキシを確認してください。',
  },
  disk_full: { text: 'ディスクに空きがありません。', advice: 'ハブのマシンの空き容量を増やしてください。' },
  module_not_found: {
    text: 'プログラムに必要なモジュール「{{module}}」がありません。',
    advice: '起動元のフォルダーまたは環境に、プログラムが必要とするものをインストールしてください。',
  },
  script_not_found: {
    text: '実行するファイル「{{file}}」は存在しません。',
    advice: '「引数」のパスを修正してください。相対パスは "cwd" が基準です。',
  },
  program_not_found: {
    text: 'コマンドが実行しようとした「{{command}}」が見つかりません。',
    advice: 'ハブのマシンにインストールするか、「引数」を修正してください。',
  },
  value_missing: {
    text: 'プログラムには {{name}} が必要です: {{line}}',
    advice: '「環境変数」で {{name}} を設定してください。',
  },
  value_refused: {
    text: 'プログラムは、与えられた認証情報でログインできませんでした: {{line}}',
    advice: '「環境変数」のトークンまたはパスワードを確認してください。',
  },
  wrong_arguments: { text: 'プログラムが引数を受け付けません: {{line}}', advice: '「引数」を修正してください。' },
  port_taken: {
    text: 'プログラムが使うポートは、別のプログラムが使用中です: {{line}}',
    advice: 'そのプログラムを終了するか、別のポートを指定してください。',
  },
  not_permitted: {
    text: 'プログラムにファイルまたはフォルダーを使う権限がありません: {{line}}',
    advice: 'ハブを実行しているユーザーに権限を与えてください。',
  },
  peer_unreachable: {
    text: 'プログラムが依存するサービスに接続できません: {{line}}',
    advice: 'そのサービスが動作しているか、プログラムに渡したアドレスが正しいかを確認してください。',
  },
  stdout_noise: {
    text: 'サーバーが {{seconds}} 秒以内に応答しませんでした。MCP メッセージではない内容を標準出力に出力しています: 「{{line}}」',
    advice:
      'コマンドが stdio で通信する MCP サーバーを起動することを確認してください。ログは標準エラー出力に出力します。',
  },
  exited_after_noise: {
    text: 'プログラムはコード {{code}} で終了しました。MCP メッセージではない内容を標準出力に出力しています: 「{{line}}」',
    advice: 'コマンドが stdio で通信する MCP サーバーを起動することを確認してください。',
  },
  exited: {
    text: 'プログラムはコード {{code}} で終了しました: {{line}}',
    advice: '最後の数行に詳しい情報があります。そこに示された内容、またはコマンドと引数を修正してください。',
  },
  exited_silently: {
    text: 'プログラムは理由を示さずにコード {{code}} で終了しました。',
    advice: 'ハブのマシンでコマンドを手動で実行し、動作を確認してください。',
  },
  install_failed_silently: {
    text: 'パッケージのインストールは理由を示さずにコード {{code}} で終了しました。',
    advice:
      'ブラウザーをダウンロードするものなど、パッケージのスクリプトが失敗した可能性があります。ハブのマシンで --foreground-scripts を最初の引数にしてコマンドを手動で実行すると、スクリプトの出力が表示されます。',
  },
  killed: {
    text: 'プログラムは {{signal}} で終了しました。',
    advice: 'SIGKILL の場合はメモリ不足の可能性があります。最後の数行に詳しい情報があるかもしれません。',
  },
  hung_up: {
    text: 'プログラムが {{pipe}} を閉じたまま動作を続けたため、終了させました。',
    advice: 'コマンドが stdio で通信する MCP サーバーを起動することを確認してください。',
  },
  silent: {
    text: 'サーバーが {{seconds}} 秒以内に応答せず、何も出力しませんでした。',
    advice: 'コマンドが stdio で通信する MCP サーバーを起動し、他の何かを待っていないことを確認してください。',
  },
  slow: {
    text: 'サーバーが {{seconds}} 秒以内に応答しませんでした。最後の出力: {{line}}',
    advice:
      '単に時間がかかっている場合、次の試行では待ち時間が延びます。CONNECT_TIMEOUT_MS で最初から延ばすこともできます。',
  },
  installs_long: {
    text: 'パッケージのインストールが {{minutes}} 分以内に終わりませんでした。',
    advice: '{{launcher}} はインストールを続けており、次の試行で完了を待ちます。',
  },
  credential_refused: {
    text: '{{where}} が {{status}} を返しました。認証情報が受け付けられないか、必要です。',
    advice:
      '「ヘッダー」のトークン (Authorization) を確認してください。未設定、期限切れ、または別のアカウントのものである可能性があります。',
  },
  credential_insufficient: {
    text: '{{where}} が {{status}} を返しました。この認証情報には権限がありません。',
    advice: 'サーバーに必要な権限をトークンに与えるか、別のトークンを使用してください。',
  },
  no_sign_in: {
    text: '{{where}} は認証情報を求めていますが、ハブが使えるサインイン (OAuth) を提供していません。',
    advice: '「ヘッダー」にトークン (Authorization) を設定するか、"oauth.issuer" に認可サーバーを指定してください。',
  },
  no_endpoint: {
    text: '{{where}} が {{status}} を返しました。',
    advice: 'MCP エンドポイントのアドレスは正しいですか？多くは /mcp または /sse で終わります。',
  },
  web_page: {
    text: '{{where}} が Web ページを返しました。',
    advice: 'MCP エンドポイントのアドレスは正しいですか？多くは /mcp または /sse で終わります。',
  },
  not_mcp: {
    text: '{{where}} が {{status}} を返しましたが、内容が MCP メッセージではありません。',
    advice: 'MCP エンドポイントのアドレスは正しいですか？',
  },
  redirected: {
    text: '{{where}} は別のオリジン {{target}} にリダイレクトしています。ハブはこれに従いません。',
    advice: 'リダイレクト先が目的のサーバーであれば、それを URL に設定してください。',
  },
  redirected_in_a_circle: {
    text: '{{where}} のリダイレクトが多すぎます。',
    advice: 'アドレスをブラウザーで開き、最後に表示されたアドレスを使用してください。',
  },
  too_many_requests: {
    text: '{{where}} が {{status}} を返しました。要求が多すぎます。',
    advice: 'ハブは試行の間隔を延ばします。アカウントの上限の引き上げが必要な場合があります。',
  },
  server_fault: {
    text: '{{where}} が {{status}} を返しました。',
    advice: '問題はサーバー側にあります。サーバー自身のログを確認してください。',
  },
  silent_address: {
    text: 'サーバーが {{seconds}} 秒以内に応答しませんでした。',
    advice: 'アドレスには到達できます。サーバー、またはその手前のプロキシのログを確認してください。',
  },
  api_not_fetched: {
    text: '{{where}} の OpenAPI ドキュメントは {{status}} を返しました。',
    advice: '"openapi.url" のアドレスを確認してください。',
  },
  api_credential: {
    text: '{{where}} の OpenAPI ドキュメントは {{status}} を返しました。誰でも読めるものではありません。',
    advice: '"openapi.specSecurity" で認証情報を指定してください。',
  },
  api_unreadable: {
    text: 'OpenAPI ドキュメントを読み取れませんでした: {{why}}。',
    advice: 'その箇所、または "openapi.url" のアドレスを修正してください。',
  },
  api_no_document: {
    text: '{{where}} にあるのは OpenAPI ドキュメントではありません。',
    advice: 'ドキュメントそのものではなく、説明ページのアドレスではありませんか？',
  },
  api_swagger: {
    text: '{{where}} のドキュメントは Swagger 2.0 で、読み取れません。',
    advice: 'OpenAPI 3 に変換してください（例: https://converter.swagger.io）。',
  },
  api_version: {
    text: '{{where}} のドキュメントには OpenAPI 3 であることが書かれていません。',
    advice: 'メンバー "openapi" は "3.0.x" または "3.1.x" でなければなりません。',
  },
  api_without_operations: {
    text: 'OpenAPI ドキュメントに使用できる操作がありません: {{why}}。',
    advice: '修正するか、別のバージョンの API のドキュメントを使用してください。',
  },
  api_failed: {
    text: 'API を読み取れませんでした: {{why}}',
    advice: '詳細はログにあります。ドキュメントに問題がなければ、ご報告ください。',
  },
  port_closed: { text: '{{where}} に接続できません: 接続が拒否されました。', advice: 'サーバーは動作していますか？' },
  host_unknown: {
    text: '{{where}} に接続できません: ホスト名が見つかりません。',
    advice: '{{setting}} のアドレスと DNS を確認してください。',
  },
  no_route: {
    text: '{{where}} に接続できません: ホストへの経路がありません ({{code}})。',
    advice: 'ネットワークとファイアウォールを確認してください。',
  },
  no_connection_in_time: {
    text: '{{where}} に接続できません: 制限時間内に接続できませんでした。',
    advice: 'アドレスは正しいですか？ファイアウォールで遮断されていませんか？',
  },
  tls_self_signed: {
    text: '{{where}} に接続できません: 証明書が自己署名です。',
    advice: 'NODE_EXTRA_CA_CERTS で証明書を追加してください。',
  },
  tls_unknown_issuer: {
    text: '{{where}} に接続できません: 証明書の発行者が不明です。',
    advice: 'NODE_EXTRA_CA_CERTS で発行者の証明書を追加してください。',
  },
  tls_expired: {
    text: '{{where}} に接続できません: 証明書の有効期限が切れています。',
    advice: 'サーバー側で証明書を更新する必要があります。',
  },
  tls_not_valid_yet: {
    text: '{{where}} に接続できません: 証明書はまだ有効ではありません。',
    advice: 'マシンの時刻を確認してください。',
  },
  tls_other_name: {
    text: '{{where}} に接続できません: 証明書のホスト名が異なります。',
    advice: '証明書に記載されたホスト名を使用してください。',
  },
  tls_not_spoken: {
    text: '{{where}} に接続できません: TLS に対応していません。',
    advice: 'アドレスは http:// で始まるべきではありませんか？',
  },
  tls_failed: {
    text: '{{where}} に接続できません: 安全な接続を確立できません ({{code}})。',
    advice: '双方が対応する TLS のバージョンを確認してください。',
  },
  http_not_spoken: { text: '{{where}} に接続できません: HTTP に対応していません。', advice: 'ポートは正しいですか？' },
  sign_in_needed: {
    text: 'サーバーがサインインを求めています。',
    advice: 'ダッシュボードのサーバーのページで一度サインインしてください。',
  },
};
