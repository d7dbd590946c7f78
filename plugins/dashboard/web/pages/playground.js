import { useRef, useState } from 'preact/hooks'
import { ask } from '../api.js'
import { stream } from '../events.js'
import { html } from '../html.js'
import { useAction } from '../load.js'
import { Problem } from '../parts/notice.js'
import { Facts } from '../parts/table.js'
import { Link } from '../router.js'
import { count, duration, usd } from '../text.js'

const answering = '/api/studio/playground'

/**
 * To try a prompt with a model. The call goes through all modules, in the name and on the account of whoever signed in.
 */
export function Playground() {
  const [test, setTest] = useState({ model: '', system: '', prompt: '', temperature: '', max_tokens: '' })
  const [answer, setAnswer] = useState(/** @type {{ text: string, done?: any } | undefined} */ (undefined))
  const [link, setLink] = useState('')
  const leaving = useRef(/** @type {AbortController | undefined} */ (undefined))
  const { busy, error, run } = useAction()
  const sharing = useAction()

  const field = (/** @type {keyof typeof test} */ name) => ({
    value: test[name],
    onInput: (/** @type {any} */ event) => setTest((all) => ({ ...all, [name]: event.target.value })),
  })
  const params = {
    ...(test.temperature !== '' && { temperature: Number(test.temperature) }),
    ...(test.max_tokens !== '' && { max_tokens: Number(test.max_tokens) }),
  }

  /** @param {Event} event */
  const submit = (event) => {
    event.preventDefault()
    setLink('')
    setAnswer({ text: '' })
    const ends = new AbortController()
    leaving.current = ends
    const body = {
      model: test.model,
      prompt: test.prompt,
      params,
      ...(test.system !== '' && { system: test.system }),
    }
    void run(async () => {
      try {
        for await (const { event, data } of stream(answering, { ...body, stream: true }, ends.signal)) {
          if (event === 'delta') setAnswer((now) => ({ text: (now?.text ?? '') + data.content }))
          else if (event === 'done') setAnswer({ text: data.content, done: data })
          else if (event === 'error') throw new Error(data.message)
        }
      } catch (thrown) {
        if (!ends.signal.aborted) throw thrown
      }
    })
  }
  const share = () =>
    sharing.run(async () => {
      const said = [
        ...(test.system === '' ? [] : [{ role: 'system', content: test.system }]),
        { role: 'user', content: test.prompt },
        { role: 'assistant', content: answer?.text ?? '' },
      ]
      const made = await ask('POST', '/api/playground/share', {
        body: { messages: said, model: test.model, params },
      })
      setLink(made.full_url ?? new URL(made.url, location.href).href)
    })

  return html`
    <h1>Playground</h1>
    <form class="playground" onSubmit=${submit}>
      <div class="filter">
        <label>Model <input required placeholder="gpt-4o-mini" ...${field('model')} /></label>
        <label>Temperature <input type="number" step="0.1" min="0" max="2" ...${field('temperature')} /></label>
        <label>Maximum tokens <input type="number" min="1" ...${field('max_tokens')} /></label>
      </div>
      <label>Instructions <textarea rows="3" ...${field('system')}></textarea></label>
      <label>Prompt <textarea rows="6" required ...${field('prompt')}></textarea></label>
      <div class="row">
        <button type="submit" disabled=${busy}>${busy ? 'Answering' : 'Send'}</button>
        ${busy && html`<button type="button" class="quiet" onClick=${() => leaving.current?.abort()}>Stop</button>`}
      </div>
    </form>
    <${Problem} error=${error} />
    ${
      answer &&
      html`
      <section aria-live="polite" aria-busy=${busy}>
        <h2>Answer</h2>
        <p class="text answer" dir="auto">${answer.text}</p>
        ${answer.done && html`<${Figures} of=${answer.done} />`}
        ${
          answer.done &&
          html`
          <div class="row">
            <${Link} to=${`/traces/${answer.done.trace_id}`}>Its trace<//>
            <button type="button" class="quiet" disabled=${sharing.busy} onClick=${share}>Share by link</button>
          </div>
        `
        }
        <${Problem} error=${sharing.error} />
        ${link !== '' && html`<p role="status">Who has this link sees the session for 30 days: <code>${link}</code></p>`}
      </section>
    `
    }
  `
}

/** @param {{ of: any }} props */
const Figures = ({ of: done }) => html`
  <${Facts}
    of=${[
      ['Model', done.model],
      ['Provider', done.provider],
      ['Latency', duration(done.latency_ms)],
      ['First token', duration(done.ttft_ms)],
      ['Tokens', `${count(done.tokens_in)} in, ${count(done.tokens_out)} out`],
      ['Cost', usd(done.cost_usd)],
      ['Ended by', done.finish_reason],
    ]}
  />
`
