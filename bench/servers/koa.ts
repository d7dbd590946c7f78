import { createServer } from 'node:http'
import { PassThrough, pipeline } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import Koa from 'koa'
import { Pool } from 'undici'
import { serve } from './serve.ts'

/** What a gateway on this stack pays before it does anything: Koa, undici, and JSON read and written both ways. */
const pool = new Pool(process.argv[2] ?? '', { connections: 256, pipelining: 1 })
const app = new Koa()

app.use(async (context) => {
  const body: unknown = JSON.parse((await buffer(context.req)).toString())
  const reply = await pool.request({
    path: context.path,
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: context.get('authorization') },
    body: JSON.stringify(body),
  })
  const type = String(reply.headers['content-type'])
  context.status = reply.statusCode
  if (type.startsWith('text/event-stream')) {
    context.type = type
    context.body = pipeline(reply.body, new PassThrough(), () => {})
  } else {
    context.body = await reply.body.json()
  }
})
app.on('error', () => {})

serve(createServer(app.callback()))
