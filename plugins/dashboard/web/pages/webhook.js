import { useState } from 'preact/hooks'
import { ask } from '../api.js'
import { html } from '../html.js'
import { useList, useLoad } from '../load.js'
import { Actions } from '../parts/actions.js'
import { Bars } from '../parts/chart.js'
import { column, number, plain, State, state, time } from '../parts/columns.js'
import { Detail } from '../parts/detail.js'
import { Listing } from '../parts/listing.js'
import { Loads } from '../parts/notice.js'
import { SecretOnce } from '../parts/secret.js'
import { count, duration, share, when } from '../text.js'
import { fields } from './webhook-new.js'

/**
 * One webhook: how its deliveries go, each of which can be sent again, and its secret, which can be changed.
 * @param {{ id: string, query: Record<string, string> }} props
 */
export function Webhook({ id, query }) {
  const path = `/api/webhooks/${encodeURIComponent(id)}`
  const [secret, setSecret] = useState('')
  const deliveries = useList(`${path}/deliveries`, query, 5000)
  const stats = useLoad(`${path}/stats`, { everyMs: 15_000 })
  const rotate = async () => setSecret((await ask('POST', `${path}/rotate`, { body: {} })).secret)
  const test = async () => {
    await ask('POST', '/api/webhooks/test', { body: { webhook_id: id } })
    deliveries.reload()
  }
  const again = (/** @type {any} */ row) => [
    {
      title: 'Send again',
      run: () => ask('POST', `${path}/deliveries/${encodeURIComponent(row.id)}/redeliver`),
    },
  ]
  const columns = [
    time('Time', 'created_at'),
    column('Event', 'event'),
    state('Status', 'status'),
    number('Answer', 'response_status', plain),
    number('Latency', 'latency_ms', duration),
    number('Attempts', 'attempt'),
    column('Error', 'error'),
    column(
      'Do',
      'status',
      (status, row) =>
        status !== 'pending' &&
        html`<${Actions} label="Delivery" of=${again(row)} done=${deliveries.reload} />`,
    ),
  ]
  return html`
    <${Detail}
      path=${path}
      everyMs=${15_000}
      up=${['/webhooks', 'Webhooks']}
      title=${(/** @type {any} */ hook) => hook.name}
      actions=${(/** @type {any} */ hook) => [
        { title: 'Send a test', main: true, run: test },
        hook.status !== 'active' && { title: 'Switch on again', run: () => ask('POST', `${path}/enable`) },
        { title: 'New secret', sure: 'The old secret signs for one day more.', run: rotate },
      ]}
      facts=${(/** @type {any} */ hook) => [
        ['Status', html`<${State} of=${hook.status} />`],
        ['Address', hook.url],
        ['Events', plain(hook.events)],
        ['Format', hook.format],
        ['Headers', plain(hook.headers)],
        ['Failures in a row', count(hook.consecutive_failures)],
        ['Last delivery', when(hook.last_delivery_at)],
      ]}
      change=${{ operation: 'PUT /api/webhooks/{id}', params: { id }, fields }}
      remove="Its deliveries go with it."
    >
      ${() => html`
        ${secret !== '' && html`<${SecretOnce} label="The new secret." value=${secret} done=${() => setSecret('')} />`}
        <${Loads} of=${stats}>
          ${(/** @type {any} */ data) => html`
            <${Bars}
              title=${`Kept deliveries: ${share(data.success_rate)} succeeded, p95 ${duration(data.p95_latency_ms)}`}
              items=${['succeeded', 'failed', 'dropped'].map((name) => ({ name, value: data[name] }))}
              format=${count}
            />
          `}
        <//>
        <section>
          <h2>Deliveries</h2>
          <${Listing} of=${deliveries} items="deliveries" label="Deliveries" columns=${columns} empty="Nothing was delivered yet." at=${`/webhooks/${id}`} query=${query} />
        </section>
      `}
    <//>
  `
}
