import { useState } from 'preact/hooks'
import { html } from '../html.js'
import { Head } from '../parts/head.js'
import { OperationForm } from '../parts/operation-form.js'
import { SecretOnce } from '../parts/secret.js'
import { go } from '../router.js'

export const fields = /** @type {const} */ (['name', 'url', 'events', 'format'])

/** A form for a new webhook, whose secret is shown once. */
export function NewWebhook() {
  const [made, setMade] = useState(/** @type {any} */ (undefined))
  return html`
    <${Head} title="New webhook" trail=${[['/webhooks', 'Webhooks']]} />
    ${
      made
        ? html`<${SecretOnce} label="The secret that deliveries are signed with." value=${made.secret} done=${() => go(`/webhooks/${made.id}`)} />`
        : html`<${OperationForm} operation="POST /api/webhooks" fields=${fields} submit="Add" done=${setMade} />`
    }
  `
}
