import { defineArea } from '#kernel'
import { personalOfUsers } from '#kit'
import { Allowance } from './allowance.ts'
import { addQuickscanRoute } from './quickscan/route.ts'
import { settings } from './settings.ts'
import { CallFindings } from './target/findings.ts'
import { Previews } from './verdict/preview.ts'

const hourMs = 3_600_000

export default defineArea({
  settings,

  async setup(context) {
    const allowance = await Allowance.open(context)
    context.every(hourMs, () => allowance.prune())
    context.personal(personalOfUsers(allowance.ofUsers))
    const findings = new CallFindings(context)
    const previews = new Previews()
    addQuickscanRoute(context, { findings, previews, allowance })
  },
})
