import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type Koa from 'koa'
import { detach } from '../../kit/work/contain.ts'
import type { ServerEvent } from '../route.ts'

/** Sends events as fast as the client takes them: one that is slow holds up its own view, and no memory. */
export function sendEvents(ctx: Koa.Context, events: AsyncIterable<ServerEvent>, left: AbortSignal): void {
  const body = new PassThrough()
  ctx.type = 'text/event-stream'
  ctx.set('cache-control', 'no-cache')
  ctx.set('x-accel-buffering', 'no')
  ctx.body = body
  const write = async (): Promise<void> => {
    for await (const { id, event, data } of events) {
      const text = `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
      if (!body.write(text)) await once(body, 'drain', { signal: left })
    }
  }
  const ended = write().then(
    () => body.end(),
    () => body.destroy(),
  )
  detach('a view of events', ended)
}
