import { html } from '../html.js'
import { Head } from '../parts/head.js'
import { OperationForm } from '../parts/operation-form.js'
import { Preview, usePreview } from '../parts/preview.js'
import { go } from '../router.js'

export const fields = /** @type {const} */ ([
  'name',
  'metric',
  'condition',
  'threshold',
  'window_seconds',
  'group_by',
  'severity',
  'channels',
])

/** Fields by which clients may say the same in another way. */
export const without = /** @type {const} */ (['window', 'channel', 'action', 'channel_config'])

/** A form for a new rule, which can be tried on the calls of the last day. */
export function NewAlert() {
  const preview = usePreview()
  return html`
    <${Head} title="New alert rule" trail=${[['/alerts', 'Alerts']]} />
    <${OperationForm}
      operation="POST /api/observe/alerts"
      fields=${fields}
      without=${without}
      submit="Add"
      also=${{ title: 'Preview', act: preview.look }}
      done=${(/** @type {any} */ rule) => go(`/alerts/${rule.id}`)}
    />
    <${Preview} found=${preview.found} />
  `
}
