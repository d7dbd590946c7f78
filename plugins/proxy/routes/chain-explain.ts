import { type Context, forbidden } from '#kernel'
import { callerOf } from '../explain/caller.ts'
import { explain } from '../explain/explain.ts'
import { explainBody, explanation } from '../explain/shapes.ts'

/** What would become of a call. */
export function addExplainRoute(context: Context<unknown>): void {
  context.route({
    method: 'post',
    path: '/api/proxy/chain/explain',
    access: 'any',
    reads: true,
    summary:
      'Explain a call without making it: modules, route, key, price; nothing is sent, counted or stored',
    body: explainBody,
    returns: explanation,
    throws: [403, 404],
    async handle({ body, principal, ip }) {
      const isAdmin = principal!.type === 'admin'
      if (body.ip !== undefined && !isAdmin)
        throw forbidden('Only admins may explain calls from other addresses.')
      const caller = await callerOf(context, principal!, body.caller)
      return explain(context, { body, caller, ip: body.ip ?? ip, isAdmin })
    },
  })
}
