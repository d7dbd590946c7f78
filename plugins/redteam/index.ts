import { defineArea, RedTeam } from '#kernel'
import { personalOfUsers } from '#kit'
import { Allowance } from './allowance.ts'
import { addAttackRoutes } from './campaigns/attack-routes.ts'
import { addCampaignRoutes } from './campaigns/routes.ts'
import { CampaignStore } from './campaigns/store.ts'
import { Hunting } from './hunts/hunting.ts'
import { addHuntRoutes } from './hunts/routes.ts'
import { Waits } from './hunts/waits.ts'
import { keptOfUsers, pruneCampaigns } from './kept.ts'
import { addQuickscanRoute } from './quickscan/route.ts'
import { recordsOf } from './records.ts'
import { SealedJson } from './sealed.ts'
import { settings } from './settings.ts'
import { addStatsRoute } from './stats-route.ts'
import { CallFindings } from './target/findings.ts'
import { Previews } from './verdict/preview.ts'
import { addVulnerabilityRoutes } from './vulnerabilities/routes.ts'

const hourMs = 3_600_000

export default defineArea({
  settings,

  async setup(context) {
    const allowance = await Allowance.open(context)
    const findings = new CallFindings(context)
    const previews = new Previews()
    const store = new CampaignStore(context)
    const json = new SealedJson(context)
    context.provide(RedTeam, recordsOf(store))
    const hunting = new Hunting(context, { store, json, findings, previews, allowance })
    const waits = new Waits(store.campaigns)
    context.own(() => waits.close())
    context.every(hourMs, async () => {
      allowance.prune()
      await pruneCampaigns(hunting, context.settings.keep_days)
    })
    context.personal(personalOfUsers(keptOfUsers(hunting, allowance)))
    addQuickscanRoute(context, { findings, previews, allowance })
    addCampaignRoutes(context, hunting)
    addHuntRoutes(context, hunting, waits)
    addAttackRoutes(context, store, json)
    addVulnerabilityRoutes(context, hunting)
    addStatsRoute(context, store)
  },
})
