/**
 * The only script of the pages that the hub makes itself, on those that ask for a passkey: browsers give none to a
 * form. It is sent as it stands here, and its hash stands in the policy of the page. Without script, or in a browser
 * without passkeys, its button is not shown; the field for a code works as before. The button has what is said when the
 * browser gives none (`data-failed`), in the language of the page.
 */
export const passkeyScript = `
(() => {
  const button = document.querySelector('[data-passkey]');
  if (!button || !window.PublicKeyCredential) return;
  const problem = document.querySelector('[data-passkey-problem]');
  const form = button.form;
  const bytes = (text) =>
    Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
  const text = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  const textsOf = (response) =>
    Object.fromEntries(
      ['authenticatorData', 'clientDataJSON', 'signature', 'userHandle']
        .filter((name) => response[name])
        .map((name) => [name, text(response[name])]),
    );
  button.hidden = false;
  button.addEventListener('click', async () => {
    button.disabled = true;
    problem.textContent = '';
    try {
      const { challenge, allowCredentials, ...options } = JSON.parse(button.dataset.passkey);
      const allowed = allowCredentials.map((one) => ({ ...one, id: bytes(one.id) }));
      const publicKey = { ...options, challenge: bytes(challenge), allowCredentials: allowed };
      const { id, rawId, type, response } = await navigator.credentials.get({ publicKey });
      const answer = { id, rawId: text(rawId), type, response: textsOf(response), clientExtensionResults: {} };
      form.elements.namedItem('passkey').value = JSON.stringify(answer);
      form.submit();
    } catch {
      problem.textContent = button.dataset.failed;
      button.disabled = false;
    }
  });
})();
`;
