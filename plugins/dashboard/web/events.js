import { errorOf, send } from './api.js'

/**
 * Posts something whose answer comes as events. Rejects with an ApiError for what is refused before the first one.
 * @param {string} path
 * @param {unknown} body
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<{ event: string, data: any }>}
 */
export async function* stream(path, body, signal) {
  const response = await send(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  })
  if (!response.ok || !response.body) throw await errorOf(response)
  let rest = ''
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const blocks = (rest + value).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const read = eventIn(block)
      if (read) yield read
    }
  }
}

/** @param {string} block */
function eventIn(block) {
  const fields = block.split('\n').map((line) => line.split(/: ?(.*)/s))
  const of = (/** @type {string} */ name) =>
    fields.flatMap(([field, text]) => (field === name ? [text ?? ''] : []))
  const data = of('data').join('\n')
  return data === '' ? undefined : { event: of('event')[0] ?? 'message', data: JSON.parse(data) }
}
