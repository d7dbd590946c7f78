import type { Context } from '#kernel'
import type { HttpSettings } from './settings.ts'
import { type Sink, SinkFailure } from './sink.ts'

const answerMs = 10_000
/** What the receiver says of the request itself, whenever it is sent. */
const isFinal = (status: number): boolean => [400, 413, 415, 422].includes(status)

/** Posts each batch of lines. Redirects are not followed, and nothing of the answer but its head is read. */
export function httpSink(
  { url, form }: HttpSettings,
  token: string | undefined,
  { post }: Pick<Context<unknown>, 'post'>,
): Sink {
  const headers = {
    'user-agent': 'Switchyard-Call-Log',
    'content-type': form === 'lines' ? 'application/x-ndjson' : 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }
  return {
    async write(lines) {
      const body = form === 'lines' ? lines.join('') : `[${lines.join(',')}]`
      const { status } = await post(url, { headers, body, timeoutMs: answerMs })
      if (isFinal(status)) throw new SinkFailure(`It answered ${status}.`)
      if (status < 200 || status >= 300) throw new Error(`It answered ${status}.`)
    },
  }
}
