import { type Awaitable, type Call, defineModule, type Outcome, Sealing } from '#kernel'
import { bodySeals, type Conversation, conversationOf, countsAsRequest, personalOfUsers } from '#kit'
import { settings as schema } from './bounds.ts'
import { AgentStopped, refusal } from './refusal.ts'
import { addRoutes } from './routes.ts'
import { Running } from './running.ts'
import type { SessionFacts, Spent } from './session.ts'
import { type Entered, Sessions } from './sessions.ts'
import { answeredOf, stepsOf, usesTools } from './steps.ts'

/** A call that its session counts. */
interface Counted {
  readonly id: string
  readonly call: Call
  readonly turn: string
}

export default defineModule({
  settings: schema,

  once(context) {
    const { event, personal, slot, use } = context
    const seals = bodySeals(context, () => use(Sealing))
    event(AgentStopped)
    const sessions = new Sessions(context)
    const running = new Running(context, sessions)
    addRoutes(context, { sessions, running, seals })
    personal(
      personalOfUsers({ count: (user) => sessions.countOf(user), erase: (user) => sessions.eraseOf(user) }),
    )
    /** A call counts once, in whichever configurations of the module it is. */
    return { sessions, running, seals, counted: slot<{ by?: Counted }>(() => ({})) }
  },

  setup({ id: module, settings, emit, report }, { sessions, running, seals, counted }) {
    const conversationFor = (call: Call): Conversation | undefined => {
      const { sessionId } = call.context
      const isMeant =
        sessionId !== undefined ||
        settings.derive === 'all' ||
        (settings.derive === 'tools' && usesTools(call.request))
      return isMeant ? conversationOf(call) : undefined
    }

    function obey(entered: Entered | undefined, id: string, call: Call): undefined {
      if (entered?.granted !== false) return
      const { bound, limit, isNew } = entered
      const action = { type: 'agent', severity: 'medium', action: 'block', direction: 'request' } as const
      call.trace.finding(module, { ...action, label: bound })
      // The official clients would try again, and the session is over for longer than they wait.
      call.trace.header('X-Should-Retry', 'false')
      if (isNew) {
        report('stopped', `${id}: ${bound}`)
        const { userId } = call.principal
        emit(
          AgentStopped,
          { session_id: id, bound, limit: limit ?? null, user_id: userId ?? null },
          { cause: call },
        )
      }
      throw refusal(id, entered, entered.retryMs)
    }

    /** The session as it is stored. */
    function sessionOf({ principal, context: { sessionId } }: Call): Awaitable<string | undefined> {
      const seal = sessionId === undefined ? undefined : seals.sealFor(principal)
      if (sessionId === undefined || !seal) return sessionId
      return seal instanceof Promise ? seal.then((sealed) => sealed(sessionId)) : seal(sessionId)
    }

    return {
      request(call) {
        const conversation = conversationFor(call)
        if (!conversation) return undefined
        const id = `ses_${conversation.id}`
        const steps = stepsOf(call.request)
        const counts = counted(call).by === undefined
        const pass = (entered: Entered | undefined): undefined => {
          obey(entered, id, call)
          if (!counts || !entered || call.cancel.aborted) return
          counted(call).by = { id, call, turn: steps.turn }
          running.add(id, call)
        }
        const enter = (session: string | undefined) =>
          sessions.enter({ id, facts: factsOf(call, conversation, session), steps, limits: settings, counts })
        const session = sessionOf(call)
        const entered = session instanceof Promise ? session.then(enter) : enter(session)
        return entered instanceof Promise ? entered.then(pass) : pass(entered)
      },
      settled(outcome, call) {
        const { by } = counted(call)
        if (!by) return
        delete counted(call).by
        running.delete(by.id, by.call)
        sessions.spend({ id: by.id, turn: by.turn, ...spentOf(outcome, call) })
      },
    }
  },
})

function factsOf(
  { principal: { userId, keyId, tenant }, context: { project }, request: { model } }: Call,
  { from }: Conversation,
  session: string | undefined,
): SessionFacts {
  return {
    ...(session !== undefined && { session }),
    ...(userId !== undefined && { user_id: userId }),
    ...(tenant !== undefined && { tenant }),
    from,
    key_id: keyId,
    project,
    model,
  }
}

function spentOf(outcome: Outcome, call: Call): Omit<Spent, 'id' | 'turn'> {
  const { usage, cost } = outcome
  return {
    tokens: call.trace.cached ? 0 : usage.input + usage.output,
    costNano: cost?.totalNano ?? 0,
    isRefused: !countsAsRequest(outcome, call),
    ...answeredOf(outcome.body() ?? {}),
  }
}
