import { useEffect, useRef, useState } from 'preact/hooks'
import { html } from '../html.js'
import { column, link, number, state } from '../parts/columns.js'
import { Head } from '../parts/head.js'
import { Empty, Problem } from '../parts/notice.js'
import { Table } from '../parts/table.js'
import { duration, recently, usd } from '../text.js'

/** Calls that are shown; older ones make room. */
const most = 100

/** Milliseconds between two drawings, however many calls there are. */
const drawEveryMs = 250

const columns = [
  link('Time', 'timestamp', ({ id }) => `/traces/${id}`),
  column('Model', 'model_requested'),
  column('User', 'user_id'),
  column('Project', 'project'),
  state('Status', 'status'),
  number('First token', 'ttft_ms', duration),
  number('Latency', 'latency_ms', duration),
  number('Cost', 'cost_usd', usd),
]

/** Calls as they happen, the newest first. A user sees the own calls. */
export function Live() {
  const calls = useRef(/** @type {Map<string, any>} */ (new Map()))
  const [rows, setRows] = useState(/** @type {readonly any[]} */ ([]))
  const [isHeld, setHeld] = useState(false)
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined))

  useEffect(() => {
    if (isHeld) return
    const source = new EventSource('/api/observe/live')
    let hasNews = false
    /** @param {MessageEvent} event */
    const take = (event) => {
      const data = JSON.parse(event.data)
      calls.current.set(data.id, { ...calls.current.get(data.id), ...shownOf(event.type, data) })
      for (const id of calls.current.keys()) {
        if (calls.current.size <= most) break
        calls.current.delete(id)
      }
      hasNews = true
    }
    for (const name of ['request.started', 'request.first_token', 'request.finished'])
      source.addEventListener(name, take)
    source.onopen = () => setError(undefined)
    source.onerror = () => setError(new Error('The gateway does not send calls. It is asked again.'))
    const timer = setInterval(() => {
      if (hasNews) setRows([...calls.current.values()].reverse())
      hasNews = false
    }, drawEveryMs)
    return () => {
      clearInterval(timer)
      source.close()
    }
  }, [isHeld])

  return html`
    <${Head} title="Live"><button type="button" aria-pressed=${isHeld} onClick=${() => setHeld(!isHeld)}>Hold</button><//>
    <${Problem} error=${error} />
    ${rows.length === 0 ? html`<${Empty}>Nothing has happened since this page was opened.<//>` : html`<${Table} label="Calls" columns=${columns} rows=${rows} keyOf=${(/** @type {any} */ row) => row.id} />`}
  `
}

/**
 * @param {string} event
 * @param {any} data
 */
function shownOf(event, data) {
  if (event === 'request.first_token') return { ttft_ms: data.ttft_ms }
  const timestamp = data.timestamp && recently(data.timestamp)
  const status = event === 'request.started' ? 'running' : data.status
  return { ...data, ...(timestamp && { timestamp }), status }
}
