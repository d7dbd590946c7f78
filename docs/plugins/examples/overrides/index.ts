import { defineModule } from 'switchyard'
import { requestTexts } from 'switchyard/kit'
import { z } from 'zod'

export default defineModule({
  settings: z.strictObject({}),

  setup({ id }) {
    return {
      request({ request, trace }) {
        for (const { text, place } of requestTexts(request)) {
          const match = /ignore (?:all |your |previous )+instructions/i.exec(text)
          if (!match) continue
          const { direction, role, kind } = place
          const spans = [{ role, kind, start: match.index, end: match.index + match[0].length }]
          const label = 'asks_to_ignore'
          trace.finding(id, { type: 'injection', severity: 'high', action: 'warn', direction, label, spans })
        }
        return undefined
      },
    }
  },
})
