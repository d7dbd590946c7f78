import { html } from '../html.js'
import { Json } from './json.js'

/** Characters of a text that are shown before somebody asks for more. */
const most = 20_000

/**
 * A chat as its messages, whatever the wire; what is no text is shown as JSON.
 * @param {{ request: any, response: any }} props
 */
export function Conversation({ request, response }) {
  const answers = (response?.choices ?? []).map((/** @type {any} */ choice) => choice.message ?? choice.delta)
  const messages = [...(request?.messages ?? []), ...answers]
  return html`
    <ol class="chat">${messages.map((message) => html`<${Message} message=${message} />`)}</ol>
    ${request && html`<${Json} title="Request" value=${request} />`}
    ${response && html`<${Json} title="Answer" value=${response} />`}
  `
}

/** @param {{ message: any }} props */
function Message({ message }) {
  const { role = 'assistant', content, tool_calls: calls = [] } = message ?? {}
  const parts = Array.isArray(content) ? content : content ? [{ type: 'text', text: content }] : []
  return html`
    <li class=${`message ${role}`}>
      <span class="role">${role}</span>
      ${parts.map((/** @type {any} */ part) =>
        typeof part.text === 'string'
          ? html`<${Text} text=${part.text} />`
          : html`<${Json} title=${part.type ?? 'part'} value=${part} />`,
      )}
      ${calls.map((/** @type {any} */ call) => html`<${Json} title=${`Calls ${call.function?.name ?? call.type}`} value=${call} />`)}
    </li>
  `
}

/** @param {{ text: string }} props */
const Text = ({ text }) => html`
  <p class="text" dir="auto">${text.slice(0, most)}${text.length > most && html`<em> … ${text.length - most} characters more, in the JSON below</em>`}</p>
`
