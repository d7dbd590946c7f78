/**
 * What words mean to the guard, in all languages at once. An entry is a word as `fold` writes it; `*` stands for any ending, and `_`
 * joins the words of a phrase. Entries of scripts without spaces are found inside of longer text.
 */
export const lexicon = {
  /** To set something aside that was in force. */
  override: `
    ignore ignoring ignorier* ignorez ignorons ignora ignorar ignorando ignorare ignorate ignoren disregard disregarding forget forgetting overlook deviate override overriding overrule scrap scrapping dismiss dismissing revoke repeal unset bypass bypassing circumvent neglect supersede nullify invalidate pay_no_attention
    pay_no_heed set_aside throw_away throw_out no_longer_appl* do_not_apply don't_apply dont_apply never_mind leave_behind let_go_of
    unlearn* disobey* not_binding out_the_window doesn't_count don't_count dont_count no_longer_count no_longer_bound
    missacht* abweich* hinter_sich hinter_dir vergiss* vergess* vergesst ubergeh* uberschreib* umgeh* ausser_acht nicht_mehr_beacht* beachte_nicht
    oubli* contourn* outrepass* passe_outre ne_tiens_pas_compt* ne_tenez_pas_compt* faites_abstraction fais_abstraction
    olvid* omite omita omitir desatiend* desestim* haz_caso_omiso hagas_caso_omiso hacer_caso_omiso pasa_por_alto pase_por_alto
    esquec* esqueca desconsider* desprez* contorn* dimentic* trascur* scordat* tralasci* aggir* non_tener_conto
    negeer* vergeet* omzeil* sla_geen_acht zignoruj* ignoruj* zapomnij* pomin* omin* zapomen* zapomn* opomen*
    игнорир* проигнорир* забуд* забыт* обойди* обойти* пренебре* не_обращай_внимани* не_обращайте_внимани*
    ігнору* проігнору* знехту* yoksay* yok_say* gormezden_gel* unut unutun gormezlikten_gel* abaikan* lupakan* mengabaikan*
    bo_qua quen_di quen_het quen_tat glomm* ignorer* strunta_i ohita* unohda* agnoo* αγνο* ξεχα* felejts* hagyd_figyelmen
    تجاهل* انس انسى انسي تغاض* اهمل* התעלמ* תתעלמ* שכח* תשכח*
    अनदेख* नजरअंदाज* नज़रअंदाज* भूल_जा* उपेक्षा* উপেক্ষা* ভুলে_যা* புறக்கணி* మరచిపో*
    무시* 잊어* 잊으* 忽略 忽視 忽视 无视 無視 忘记 忘記 忘掉 不要理会 不用理会 不必理會 撇开 抛开 拋開 绕过 繞過 忘れ 破棄し 従わず ละเว้น เพิกเฉย ลืม ไม่ต้องสนใจ`,
  /** Words that may mean the same, and often do not. */
  weakOverride: `
    delet* eras* reset* cancel* flush suspend lift lifted suspended revoked voided void removed obsolete aufgehoben* nichtig replac* discard* drop* abandon* violate break remov* disable disabling deactivat* turn_off switch_off clear skip
    wipe* overwrit* stop undo loesch* losch* ersetz* verwirf* verwerf* annull* elimin* supprim* remplac* borr* reemplaz* apag*
    substitu* cancell* sostitui* verwijder* usun* удали* отмени* сброс* замени* видали* sil silin sifirla* iptal* hapus* xoa thay_the 删除 刪除 取消 重置 清除 消去 삭제* 초기화* احذف* الغ* हटा*`,
  /** To act by something. */
  follow: `
    follow* obey* compl* adher* abid* heed* respect* honor* honour* observ* bound* constrain* stick_to listen* befolg* folg* gehorch* beacht* halte* suivre
    suis suivez respect* obei* seguir* siga* sigas obedec* cumpl* segui* seguire obbed* rispett* volg* przestrzeg* stosuj* следуй* следова* соблюда* подчин* слушай*
    дотримуй* uyma* uy itaat* uygula* mengikuti patuh* tuan_theo lam_theo 遵守 遵循 听从 聽從 服从 従う 従って 守る 守って 따르* 따라* 준수* اتبع* تتبع* التزم* पालन* मान*`,
  negation: `
    n'as n'avez n'y ni neither nor нет 没有 沒有 もない 無い keinerlei weder nessuna nessun ningun ninguna nenhum nenhuma zadnych żadnych brak olmayan yok 없이 ない なし not no never don't dont doesn't do_not cannot can't won't shouldn't needn't without stop cease nicht kein* keine nie niemals ohne ne pas jamais sans sin nunca
    nao nem sem nunca non mai senza niet geen nooit zonder nie bez не без никогда ні degil hic asla olmadan jangan tidak tanpa dung khong 不 不要 别 別 勿 ない なく ずに 지_마* 말고* 않* لا بدون मत बिना नहीं ไม่ อย่า`,
  /** What governs a model, and hardly anything else. */
  target: `
    instruct* instrction* directions preamble* metaprompt* briefing* prompt* directiv* guideline* guardrail* programming alignment system_message* developer_message* preprompt* anweisung* systemanweisung* instruktion* vorgabe*
    anleitung* richtlinie* consigne* directives instruction* instruccion* indicacion* directric* instruc* diretriz* orientaco* istruzion* direttiv* instructie* richtlijn*
    instrukcj* polecen* wytyczn* instrukc* pokyn* инструкц* указани* промпт* директив* предписани* інструкц* вказівк* talimat* yonerge* komut* petunjuk* instruksi* arahan*
    huong_dan chi_dan chi_thi οδηγι* utasitas* ohje* تعليم* التعليم* توجيه* ارشاد* الارشاد* הוראות* ההוראות* הנחיות* ההנחיות* निर्देश* अनुदेश* প্রম্পট* নির্দেশ* அறிவுறுத்தல்* సూచన*
    지시* 지침* 프롬프트* 명령* 指令 指示 提示词 提示詞 提示 命令 プロンプト 指針 คำสั่ง คำแนะนำ คำชี้แนะ`,
  /** What may govern a model, or be something else. */
  broadTarget: `
   
    rule* restrict* constraint* limitation* limit* polic* command commands kommando* context* conversation* training filter* safet* safeguard* protocol* everything anything you_were_told assignment*
    task* role* input* persona* moderation censorship boundar* regel* beschrankung* einschrankung* befehl* auftrag* auftrage aufgabe* alles gesagt* rolle regle*
    restriction* ordre* contexte tout tache* regla* restriccion* orden* ordenes todo todos contexto tarea* regra* restric* ordens tudo contexto tarefa* regol* restrizion*
    ordin* tutto contesto compit* regels beperking* opdracht* alles zasad* regul* ogranicz* wszystk* pravid* правил* ограничени* приказ* контекст* все всё задани* команд*
    обмежен* kural* kisitlama* her_sey hersey* baglam* gorev* aturan* batasan* perintah* semua tugas* quy_tac quy_dinh moi_thu lenh gioi_han κανον* σαβαλυ* κανόνες
    szabaly* saann* قواعد القواعد قيود القيود اوامر الاوامر كل_شيء ما_سبق כללים הכללים הכל नियम* प्रतिबंध* आदेश* सब_कुछ বিধি* নিয়ম* 규칙* 제한* 대화* 모든_것* 规则 規則 规定 限制 约束 约定 对话
    對話 上下文 一切 任务 任務 设定 設定 ルール 制限 制約 会話 すべて 全て กฎ ข้อจำกัด ทุกอย่าง`,
  /** What was said, which may or may not govern a model. */
  speech: `configuration konfiguration configuracion configurazione configuracao chat content conversacion conversation kontext* mensage* mensaje* message* messagg* nachricht* order* said stuff testo text text* texte* texto* сообщени* текст* 內容 内容 내용*`,
  /** What came before. */
  prior: `
    precede precedes preceded auparavant     previous* prior preceding above earlier before beforehand foregoing initial* original* existing former* hitherto so_far until_now up_to_now up_to_this you_were_given you_were_told you_got you_have_been_given
    thus_far vorherig* vorig* bisherig* obig* fruher* zuvor vorher ursprunglich* vorangegangen* vorangehend* vorstehend* oben davor bislang bestehend*
    precedent* anterieur* plus_haut ci-dessus dessus initial* avant jusqu'ici anterior* previ* arriba antes original* inicial* acima precedent* preced* prima sopra iniziali
    originali vorige voorgaande eerdere bovenstaande vooraf poprzedni* wczesniej* powyzsz* dotychczas* predchoz* predesl* предыдущ* прежн* ранее выше прошл* изначальн* первоначальн*
    попередн* раніше вище onceki* yukaridaki* daha_once sebelum* di_atas terdahulu truoc_do truoc_day truoc tren ben_tren o_tren προηγουμεν* elozo* korabbi* edellis* aiemm* tidigare
    السابق* اعلاه قبل הקודמ* לעיל पिछल* उपर* ऊपर* पहले पूर्व* আগের* উপরের* முந்தைய* ముందు* 이전* 위의* 앞의* 앞선* 지금까지* 기존* 之前 以前 先前 前面 上面 上述 以上 此前 原来 原有 以前の 前の 上記 これまで 今まで 先ほど ก่อนหน้า ข้างต้น ที่ผ่านมา`,
  all: `whatever all any every everything whole entire each alles anything alle aller allen samtlich* ganze tous toutes toute tout todas todos todo todas tutte tutti tutto alles todo tudo wszystko wszystkie wszystkich всех все всё усі всі butun tum
    tumu semua segala tat_ca moi ολες kaikki osszes جميع كل כל सभी सारे সব எல்லா 모든 모두 所有 全部 一切 すべて 全て 全部 ทั้งหมด`,
  /** What keeps a model from harm. */
  safety: `safet* safeguard* ethic* moral* restriction* restrict* filter* guardrail* moderation* censor* content_polic* usage_polic* polic* limitation* boundar* constraint* alignment protection* securit* sicherheit* beschrankung*
    einschrankung* filter* ethik restriction* securite filtre* restricciones seguridad filtro* restric* seguranca sicurezza restrizion* beperking* veiligheid* ogranicz* zabezpiecz* ограничен* безопасност* фильтр* обмежен* kisitlama* guvenlik* filtre*
    batasan* keamanan* gioi_han an_toan القيود قيود الامان हिफाज़त* सुरक्षा* प्रतिबंध* 제한* 안전* 필터* 限制 安全 过滤 審查 审查 制限 安全 フィルター ข้อจำกัด ความปลอดภัย`,
  /** The work that a model was given. */
  work: `answer* translat* summari* respond classif* correct* complet* evaluat* continue continuing feedback question* ubersetz* beantwort* antwort* traduc* tradui* tradur* repond* respond* rispond* otvec* ответ* переве* 回答 翻译 翻訳 总结`,
  /** Boasts that an attack has a model repeat. */
  boast: `pwned pwnd haxxed h4cked`,
  /** All there is, without a word for what. */
  everything: `everything anything alles tout todo tudo tutto wszystko vsechno все всё усе her_sey hersey semuanya semua_hal moi_thu كل_شيء ما_سبق הכל सब_कुछ 모든_것* 一切 すべて 全て ทุกอย่าง`,
  /** Of the model, or the model itself. */
  your: `your you yours yourself u ur dein* deine deiner deinen du dich ihre ihren ihnen ton ta tes vous votre vos tu toi tus su sus usted seu sua seus suas voce teu tuo tua tuoi tue ti vostre
    je jouw uw jij twoje twoj* swoje ty ci твой твои твоих твоя ты тебе вас ваш* тебя твої ти sen senin sana size sizin kamu anda mu ban cua_ban σου sinun sina te
    لك لديك انت تعليماتك שלך אתה तुम्हार* आपक* आप तुम তোমার আপনার உங்கள் మీ 너의 당신* 너는 넌 네 你 您 你的 您的 あなた 君 きみ お前 คุณ ของคุณ`,
  /** Which of the texts that govern a model. */
  system: `system systemprompt* developer hidden secret initial* original* internal confidential underlying core base built-in startup opening pre-set preset systemnachricht*
    systemanweisung* versteckt* geheim* intern* ursprunglich* systeme cache* secret* interne* initial* sistema oculto* ocultas secreto* secretas interno* internas confidencial*
    inicial* originai* segret* nascost* iniziale iniziali interne ukryt* systemow* tajn* poczatkow* системн* скрыт* секретн* внутренн* исходн* начальн* системний* прихован* sistem gizli
    tersembunyi rahasia he_thong bi_mat النظام السرية مخفية המערכת सिस्टम छिपे गुप्त সিস্টেম 시스템* 숨겨진* 비밀* 내부* 系统 系統 隐藏 隱藏 秘密 内部 初始 原始 最初 システム 隠され 隠し 秘密 初期 ระบบ ซ่อน`,
  reveal: `reveal* spill divulg* unveil* uncover* hand_over show print* repeat* output* display* tell disclos* leak* share dump* list writ* give giv* recit* expos* spell* copy paste reproduc* echo* quot* what's what which return
    translate summari* describ* regurgitat* type provide provid* enumerat* say speak state encode convert reprint restat* paraphras* zeig* nenn* verrat* gib ausgeb* gebe wiederhol* druck* sag sage
    was_ist was_sind was_steht wie_lautet wie_lauten welche offenbar* montr* revel* affich* repet* donn* dis dites quel quelle quelles ecri* recopi* muestr* mostrar ensen* revel* repit* repet* imprim* di dime cual cuales
    escrib* copi* mostr* diga qual quais repita escrev* mostra* rivel* ripet* stampa* dimmi quali scriv* toon geef herhaal* wat_is wat_zijn welke vertel* pokaz* wypisz* powtorz* ujawnij* podaj jakie jaki
    ukaz* vypis* zopakuj* покаж* раскро* повтор* выведи* напиши* скажи* какие какой каков* назови* перечисл* процитир* напечат* розкрий* goster* acikla* tekrarla* yazdir* soyle* nedir neler
    tunjukkan* tampilkan* ungkap* ulangi* sebutkan* beritahu* tiet_lo lap_lai in_ra cho_toi cho_biet hien_thi noi_cho la_gi اكشف* اظهر* اعرض* كرر* اطبع* اخبرن* ما_هي ما_هو הצג* חשוף*
    गला דיווח* बता* दिखा* दोहरा* क्या प्रकट* বলো দেখাও 보여* 알려* 출력* 반복* 공개* 말해* 뭐* 무엇* 써* 显示 顯示 告诉 告訴 输出 輸出 打印 重复 重複 透露 泄露 列出 给我 給我 是什么 是什麼 写出 复述 公开 教えて 見せて 表示 出力 繰り返 公開 明かし 書いて 何です แสดง บอก เปิดเผย พิมพ์ ทำซ้ำ คืออะไร`,
  verbatim: `verbatim word_for_word exactly in_full entirely full complete* unabridged literally code_block codeblock letter_by_letter character_by_character starting_with beginning_with
    wortlich* wort_fur_wort genau vollstandig* mot_pour_mot mot_a_mot textuellement integralement exactement literalmente palabra_por_palabra textualmente al_pie_de_la_letra exactamente
    palavra_por_palavra literalmente parola_per_parola testualmente letterlijk woord_voor_woord doslown* slovo_za_slovo дословно слово_в_слово полностью целиком kelimesi_kelimesine aynen kata_demi_kata nguyen_van tung_chu
    حرفيا كلمة_بكلمة शब्दश* 그대로* 한_글자* 逐字 原文 原样 一字不 完整 一字一句 そのまま 一字一句 全文 ทุกคำ`,
  /** To take a part. */
  role: `act_as acting_as act_like act_lik* pretend* roleplay* role-play* role_play* role_of simulat* impersonat* imagin* you_are_no_longer you're_no_longer you_are_free you_are_now you're_now youre_now you_will_now_be you_become from_now_on
    henceforth behav* play_the_part play_the_role in_character persona stay_in_character take_on become transform* emulat* hypothetical* fictional* you_are_going_to you_are_about_to respond_as
    answer_as spiel* tu_so ab_jetzt ab_sofort von_nun_an rollenspiel* stell_dir_vor du_bist_jetzt du_bist_nun verhalte_dich agis_comme fais_semblant jeu_de_role desormais a_partir_de_maintenant
    joue_le_role tu_es_maintenant imagine_que actua_como finge* a_partir_de_ahora juego_de_rol ahora_eres imagina_que haz_de_cuenta aja_como finja* a_partir_de_agora agora_voce faca_de_conta
    agisci_come fai_finta d'ora_in_poi da_ora_in_poi comportati sei_ora gioco_di_ruolo doe_alsof gedraag vanaf_nu je_bent_nu udawaj* zachowuj_sie od_teraz od_tej_pory jestes_teraz
    притвор* представь* отныне с_этого_момента теперь_ты веди_себя сыграй* ролев* уяви* відтепер gibi_davran* rol_yap* artik_sen bundan_sonra su_andan_itibaren berpura* bertindak* mulai_sekarang
    hay_dong_vai dong_vai gia_vo tu_bay_gio bay_gio_ban تظاهر* تصرف* من_الان* העמד_פנים मान_लो अभिनय* अब_से 역할* 행동* 지금부터* 이제부터* 척* 扮演 假装 假裝 假设 从现在开始 從現在開始 从现在起 你现在是 你現在是 模拟 なりきっ 演じ 振る舞 ふりをし 今から これから สวมบทบาท แกล้ง ต่อไปนี้คุณ`,
  /** Free of what holds a model. */
  unbound: `unrestricted unfiltered uncensored unlimited unbound unchained unhinged jailbroken jailbreak* do_anything_now dan developer_mode dev_mode devmode god_mode godmode sudo_mode admin_mode root_mode
    maintenance_mode debug_mode unsafe_mode evil amoral unethical immoral lawless free_from freed_from broken_free break_free never_refus* cannot_refus* can't_refus* can_not_refus* not_refus* never_say_no always_compl* always_answer
    any_request anything_i_ask whatever_i_ask no_matter_what_i no_matter_how without_question no_ethical no_moral regardless_of_legal* regardless_of_ethic* no_longer_restrict* entwicklermodus uneingeschrankt* unzensiert* ungefiltert* unmoralisch*
    mode_developpeur sans_censure sans_filtre non_censure* illimite* modo_desarrollador sin_censura sin_filtro* sin_restricciones sin_limite* modo_desenvolvedor sem_censura sem_restric* sem_filtro* sem_limite* modalita_sviluppatore
    senza_censura senza_restrizioni senza_filtri senza_limiti zonder_beperkingen ongefilterd* ongecensureerd* tryb_deweloper* bez_ogranicz* bez_cenzur* bez_omezen* режим_разработчик* без_цензур* без_ограничени* без_фильтр* без_обмежен*
    gelistirici_modu* sansursuz* sinirsiz* filtresiz* kisitlamasiz* tanpa_batas* tanpa_sensor* tanpa_filter* mode_pengembang khong_gioi_han khong_kiem_duyet khong_bi_gioi che_do_nha_phat_trien بلا_قيود بدون_قيود بدون_رقابة وضع_المطور ללא_הגבלות ללא_צנזורה
    बिना_किसी_प्रतिबंध* बिना_सेंसर* डेवलपर_मोड 제한_없* 제약_없* 검열_없* 개발자_모드* 탈옥* 无限制 無限制 不受限制 不受任何限制 没有限制 沒有限制 不受约束 没有任何限制 越狱 越獄 开发者模式 開發者模式 无审查 制限なし 制限のない 無制限 脱獄 開発者モード 検閲なし ไร้ข้อจำกัด ไม่มีข้อจำกัด โหมดนักพัฒนา`,
  /** What holds a model, behind a word such as "without". */
  limits: `regle* regla* regra* regol* правил* 规则 規則 规定 ルール kural* reguly zasad* aturan* quy_tac قواعد नियम* 규칙* restriction* limit* limitation* filter* censor* ethic* moral* rule* guideline* guardrail* polic* safet* safeguard* boundar* constraint* refus* beschrankung* einschrankung* zensur ethik moral*
    regeln richtlinien filter restriction* limite* filtre* censure ethique moral* restricciones limite* filtro* censura etic* moral* restric* restrizion* limit* filtri censura
    beperking* ethiek ogranicz* filtr* etyk* cenzur* ограничен* фильтр* цензур* этик* мораль* обмежен* kisitlama* sinir* sansur* filtre* etik* batasan* sensor* etika* gioi_han kiem_duyet dao_duc قيود رقابة اخلاق* प्रतिबंध* सीमा* नैतिक*
    제한* 검열* 윤리* 필터* 限制 审查 審查 道德 伦理 过滤 约束 検閲 倫理 フィルター 制限 道徳 ข้อจำกัด เซ็นเซอร์ จริยธรรม`,
  /** Whom an instruction in a text addresses that is no message to it. */
  model: `ai ai's assistant* chatbot* bot llm llms language_model* gpt* chatgpt claude gemini copilot agent agents summarizer* summariser* model ki assistent* sprachmodell* ia assistant* asistente* modelo_de_lenguaje assistente* modelo_de_linguagem
    modello_linguistico sztuczn* asystent* ассистент* помощник* нейросет* ии модел* asistan* yapay_zeka asisten* tro_ly المساعد مساعد الذكاء_الاصطناعي सहायक एआई 어시스턴트* 인공지능* 챗봇* 助手 助理 人工智能 模型 アシスタント 人工知能 ผู้ช่วย`,
  /** To keep something from the user. */
  conceal: `do_not_tell don't_tell dont_tell never_tell do_not_mention don't_mention dont_mention never_mention do_not_inform don't_inform without_telling without_mentioning without_informing without_asking without_confirm* do_not_reveal_this
    don't_reveal_this don't_let_the_user do_not_let_the_user not_alert do_not_notify don't_notify keep_this_secret keep_this_hidden keep_this_confidential silently secretly covertly discreetly do_not_disclose_this without_the_user's without_user
    sag_dem_nutzer_nicht erwahne_nicht ohne_zu_erwahnen heimlich sans_le_dire sans_le_mentionner ne_mentionne* ne_dis_pas discretement en_secret no_menciones sin_mencionar no_le_digas no_informes en_secreto
    nao_mencione sem_mencionar nao_diga nao_informe secretamente non_menzionare senza_menzionare non_dire di_nascosto niet_vermelden nie_wspominaj* potajemnie не_упоминай* не_говори* не_сообщай* тайно втайне незаметно soyleme bahsetme
    gizlice jangan_sebut* jangan_beri* diam-diam dung_noi khong_de_cap bi_mat لا_تذكر لا_تخبر سرا मत_बता* 언급하지* 말하지_마* 몰래* 알리지* 不要告诉 不要告訴 不要提及 别告诉 暗中 悄悄 伝えない 言わない 触れない こっそり 知らせず อย่าบอก แอบ`,
  /** To bring something out. */
  send: `send* forward* post posts upload* exfiltrat* transmit* email* e-mail* deliver* leak* submit* append* include* embed* visit* navigat* fetch* call* invoke* click* open transfer* wire pay sende* schick* weiterleit* ubermittl* leite envoie* envoy* transmet* transfer* envia* envie*
    manda* reenvi* sube encaminh* invia* inoltra* stuur* wyslij* przeslij* отправ* перешли* передай* надішл* gonder* ilet kirim* teruskan* gui chuyen_tiep ارسل* भेज* 보내* 전송* 전달* 发送 發送 转发 轉發 上传 传送 送信 送って 転送 アップロード ส่ง`,
  /** That instructions change. */
  fresh: `new_instruction* new_task* new_rule* new_directive* new_role new_prompt new_objective new_goal new_order* new_persona updated_instruction* real_task actual_task real_instruction* your_task_now following_instruction* these_instruction* instead_do instead_you instead_just instead_say instead_print instead_output instead_write instead_respond instead_reply new_primary* your_new your_only_goal your_real primary_goal primary_objective primary_directive
    instructions_changed neue_anweisung* neue_aufgabe neue_regel* stattdessen nouvelle_instruction* nouvelles_instruction* nouvelle_tache nouvelles_consignes nueva_tarea nuevas_instruccion* nuevas_ordenes nova_tarefa novas_instruc* nuovo_compito nuove_istruzioni nieuwe_instructie* nieuwe_opdracht
    nowe_polecen* nowe_instrukcj* nowe_zadanie новые_инструкц* новая_задача новое_задание новые_указания нове_завдання yeni_talimat* yeni_gorev* instruksi_baru tugas_baru huong_dan_moi nhiem_vu_moi تعليمات_جديدة التعليمات_الجديدة नए_निर्देश* नया_कार्य 새로운_지시* 새_지시* 새로운_명령* 新指令 新的指令 新任务 新的任务 新しい指示 新たな指示 คำสั่งใหม่`,
  /** A claim to be one that may. */
  authority: `i_am_your_developer i'm_your_developer i_am_the_developer i'm_the_developer i_am_your_creator i'm_your_creator i_am_an_admin* i_am_the_admin* i'm_the_admin* i'm_an_admin* i_am_the_system i_am_root authorized_by authorised_by
    i_am_authori* i'm_authori* admin_override system_override override_code security_override emergency_override openai_staff from_openai anthropic_staff from_anthropic as_your_developer as_the_developer as_an_administrator system_administrator developer_here with_admin
    ich_bin_dein_entwickler ich_bin_der_entwickler ich_bin_der_administrator je_suis_ton_developpeur je_suis_l'administrateur je_suis_le_developpeur soy_tu_desarrollador soy_el_administrador soy_el_desarrollador soy_tu_creador sou_seu_desenvolvedor sou_o_administrador sou_o_desenvolvedor
    sono_il_tuo_sviluppatore sono_l'amministratore jestem_twoim_tworca jestem_administratorem я_твой_разработчик я_администратор я_разработчик я_твой_создатель ben_gelistiricinim ben_yoneticiyim saya_pengembangmu saya_administrator انا_المطور انا_المدير 나는_개발자* 관리자입니다* 我是你的开发者 我是开发者 我是管理员 私は開発者 私は管理者 開発者だ`,
  /** Answers that are put into the model's mouth. */
  opening: `start_your_response start_your_answer start_your_reply begin_your_response begin_your_answer begin_your_reply start_with_sure begin_with_sure start_by_saying begin_by_saying respond_only_with reply_only_with answer_only_with only_respond_with
    just_say simply_say your_response_must_begin your_answer_must_begin absolutely_here sure_here sure_here's do_not_apologi* don't_apologi* never_apologi* no_disclaimer* without_disclaimer* as_an_ai_language never_say_sorry do_not_say_sorry do_not_say_you_can't
    confirm_by confirm_that_you acknowledge_by say_ok_if reply_ok_if beginne_deine_antwort commence_ta_reponse commence_par empieza_tu_respuesta comienza_con inicia_tu_respuesta comece_sua_resposta inizia_la_risposta начни_ответ начни_свой_ответ`,
  secret: `password* passwort* passcode* api_key* apikey* api-key* api_keys credential* secret_key secret_token access_token* secret_word token tokens environment_variable* env private_key* credit_card* kennwort* mot_de_passe motdepasse contrasena* clave_secreta senha* chave_secreta parola_d'ordine wachtwoord* haslo hasla пароль пароля пароли sifre* parola kata_sandi mat_khau كلمة_السر كلمة_المرور पासवर्ड 비밀번호* 암호* 密码 密碼 口令 パスワード 合言葉 รหัสผ่าน`,
  decode: `decod* decipher* decrypt* unscrambl* entschlussl* dekodier* decodifi* dechiffr* descifr* decifr* dekodu* расшифру* декодиру* rot13 base64 hex hexadecimal caesar morse reversed backwards 解码 解碼 解密 デコード 해독*`,
  execute: `execut* obey* follow* run perform* carry_out comply do_what act_on do_it fuhre* befolg* execute* suis suivez ejecut* sigue* cumpl* esegui* выполн* исполн* uygula* jalankan* 执行 執行 遵循 実行 従っ 실행*`,
  /** Talk about attacks, or about texts as texts. */
  about: `protect* injection* attack* attacker* jailbreaking adversarial* phishing malicious red_team* red-team* vulnerab* mitigat* prevent* detect* classif* defend* defens* example* research* paper article blog explain* mean means meaning translate translation
    analy* categor* unsafe phrase* sentence* quote* training awareness owasp security documentation regex unit_test angriff* beispiel* erklar* bedeut* ubersetz* exemple* attaque* explique* signifie traduis* traduir* ejemplo* ataque* explica* significa traduc* exemplo* ataques traduz* esempio attacco spieg* tradu* атак* пример* объясни* означает перевед* 攻击 例子 解释 翻译 攻撃 例 説明 翻訳 공격* 예시* 설명* 번역*`,
} as const

export type Concept = keyof typeof lexicon
