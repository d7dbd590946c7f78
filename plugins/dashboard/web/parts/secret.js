import { useState } from 'preact/hooks'
import { html } from '../html.js'

/**
 * A secret that is shown this once.
 * @param {{ label: string, value: string, done: () => void }} props
 */
export function SecretOnce({ label, value, done }) {
  const [copied, setCopied] = useState(false)
  const copy = () =>
    navigator.clipboard?.writeText(value).then(
      () => setCopied(true),
      () => {},
    )
  return html`
    <div class="secret" role="status">
      <p>${label} It is shown this once; keep it now.</p>
      <input readonly value=${value} aria-label="The secret" onFocus=${(/** @type {any} */ event) => event.target.select()} />
      <div class="row">
        <button type="button" onClick=${copy}>${copied ? 'Copied' : 'Copy'}</button>
        <button type="button" class="quiet" onClick=${done}>I have it</button>
      </div>
    </div>
  `
}

/**
 * A button that asks once more before it does what cannot be undone.
 * @param {{ ask: string, onClick: () => void, disabled?: boolean, children: import('../html.js').Children }} props
 */
export function SureButton({ ask, onClick, disabled = false, children }) {
  const [asks, setAsks] = useState(false)
  if (!asks)
    return html`<button type="button" class="quiet" disabled=${disabled} onClick=${() => setAsks(true)}>${children}</button>`
  const yes = () => {
    setAsks(false)
    onClick()
  }
  return html`
    <span class="sure" role="group" aria-label=${ask}>
      <span>${ask}</span>
      <button type="button" class="danger" onClick=${yes}>${children}</button>
      <button type="button" class="quiet" onClick=${() => setAsks(false)}>Cancel</button>
    </span>
  `
}
