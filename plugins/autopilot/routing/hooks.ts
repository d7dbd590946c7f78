import {
  type Autopilot,
  type AutopilotRoute,
  type Call,
  type Context,
  type Hooks,
  isUpstreamError,
} from '#kernel'
import { isOfRequest } from '#kit'

interface Routed {
  route?: AutopilotRoute
  fellBack?: boolean
}

/** The hooks by which calls go where autopilot routes them, and to the reference model when that model fails. Calls pass them by while it is off. */
export function hooksOf(
  autopilot: Autopilot,
  { slot, targets }: Pick<Context<unknown>, 'slot' | 'targets'>,
  isOn: () => boolean,
): Hooks {
  const routed = slot<Routed>(() => ({}))

  function sent(call: Call, route: AutopilotRoute | undefined): Call | undefined {
    if (!route) return undefined
    routed(call).route = route
    return route.model === call.request.model ? undefined : call.withRequest({ model: route.model })
  }

  return {
    idle: () => !isOn(),
    pure: autopilot.isPure,
    request(call) {
      const route = autopilot.route(call, { targets, otherwise: undefined })
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
    varies: (call) => autopilot.varies(call),
    settled(outcome, call) {
      const { route, fellBack = false } = routed(call)
      if (route) autopilot.settled(call, route, { outcome, fellBack })
    },
  }
}

/** Whether an error speaks of a model, and not of the request. */
const isOfModel = (error: unknown): boolean => isUpstreamError(error) && !isOfRequest(error.providerStatus)
