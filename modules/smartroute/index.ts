import { z } from 'zod'
import { Autopilot, type AutopilotRoute, type Call, defineModule, isUpstreamError } from '#kernel'
import { isOfRequest } from '#kit'

interface Routed {
  route?: AutopilotRoute
  fellBack?: boolean
}

/** The hooks of autopilot, which knows the models and keeps the figures. */
export default defineModule({
  settings: z.strictObject({
    default_model: z.string().min(1).max(256).optional().meta({
      title: 'Default model',
      description:
        'The model that answers to the names autopilot and auto while autopilot is off and has no reference model.',
    }),
  }),

  setup({ settings: { default_model: otherwise }, mode, use, slot, targets }) {
    const routed = slot<Routed>(() => ({}))

    function sent(call: Call, route: AutopilotRoute | undefined): Call | undefined {
      if (!route) return undefined
      routed(call).route = route
      return route.model === call.request.model ? undefined : call.withRequest({ model: route.model })
    }

    return {
      pure: use(Autopilot).isPure,
      request(call) {
        const route = use(Autopilot).route(call, { targets, otherwise })
        return route instanceof Promise ? route.then((late) => sent(call, late)) : sent(call, route)
      },
      wraps: (call) => routed(call).route?.fallback !== undefined,
      async around(call, next) {
        try {
          return await next(call)
        } catch (error) {
          call.cancel.check()
          const { fallback } = routed(call).route!
          if (fallback === undefined || !isOfModel(error)) throw error
          routed(call).fellBack = true
          call.trace.decide({ kind: 'autopilot', chosen: fallback, reason: `${call.request.model} failed` })
          call.trace.header('X-Autopilot-Model', fallback)
          return next(call.withRequest({ model: fallback }))
        }
      },
      varies: (call) => use(Autopilot).varies(call),
      settled(outcome, call) {
        const { route, fellBack = false } = routed(call)
        if (route && mode === 'enforce') use(Autopilot).settled(call, route, { outcome, fellBack })
      },
    }
  },
})

/** Whether an error speaks of a model, and not of the request. */
const isOfModel = (error: unknown): boolean => isUpstreamError(error) && !isOfRequest(error.providerStatus)
