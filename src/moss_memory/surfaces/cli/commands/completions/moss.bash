# bash completion for moss
_moss() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" offered="" valued=""
  local command="${COMP_WORDS[1]}" second="${COMP_WORDS[2]}" place=$COMP_CWORD files=""
  # Bash takes --mode=re for three words.
  if [[ "$current" == "=" ]]; then current=""
  elif [[ "$previous" == "=" ]]; then previous="${COMP_WORDS[COMP_CWORD-2]}"; fi
  if [[ "$previous" == "--home" ]]; then COMPREPLY=($(compgen -d -- "$current")); return; fi
  case "$command" in artifact|branch|capsule|graph|history|notes|record|task|think|trace)
    if (( place > 2 )); then command="$command $second"; fi ;;
  esac
  if (( place == 1 )); then offered="append backup bulk-delete bulk-update call completion compose config delete doctor export fetch fetch-many help import index inventory latest list mcp purge restore restore-backup search serve store tools tour update artifact branch capsule graph history notes record task think trace --help --version --home"
  else case "$command" in
    "append") offered="--id --workspace -w --name --section --content --allow-secrets --file --home --table --help -h" valued="--id --workspace -w --name --section --content --file --home" ;;
    "backup") offered="--path --home --table --help -h" files=1 valued="--path --home" ;;
    "bulk-delete") offered="--workspace -w --tag --name-prefix --run-id --phase --role --home --table --help -h" valued="--workspace -w --tag --name-prefix --run-id --phase --role --home" ;;
    "bulk-update") offered="--workspace -w --tag --name-prefix --run-id --phase --role --set-phase --set-role --set-tags --allow-secrets --home --table --help -h" valued="--workspace -w --tag --name-prefix --run-id --phase --role --set-phase --set-role --set-tags --home" ;;
    "call") offered="--tool --arguments --home --table --help -h" valued="--tool --arguments --home" ;;
    "completion") offered="bash zsh fish --shell --help -h" valued="--shell" ;;
    "compose") offered="--items --sections --format --store-as --allow-secrets --item --text --home --table --help -h" valued="--items --sections --format --store-as --item --home" ;;
    "config") offered="--home --table --help -h" valued="--home" ;;
    "delete") offered="--id --workspace -w --name --home --table --help -h" valued="--id --workspace -w --name --home" ;;
    "doctor") offered="--fix --home --table --help -h" valued="--home" ;;
    "export") offered="--path --workspace -w --include-deleted --all --with-history --home --table --help -h" files=1 valued="--path --workspace -w --home" ;;
    "fetch") offered="--id --workspace -w --name --include-text --no-include-text --include-deleted --text --home --table --help -h" valued="--id --workspace -w --name --home" ;;
    "fetch-many") offered="--items --include-text --no-include-text --include-deleted --item --home --table --help -h" valued="--items --item --home" ;;
    "help") offered="append backup bulk-delete bulk-update call completion compose config delete doctor export fetch fetch-many help import index inventory latest list mcp purge restore restore-backup search serve store tools tour update artifact branch capsule graph history notes record task think trace --command --help -h" valued="--command" ;;
    "import") offered="--path --mode --max-bytes --home --table --help -h" files=1 valued="--path --mode --max-bytes --home" ;;
    "index") offered="--rebuild --home --table --help -h" valued="--home" ;;
    "inventory") offered="--workspace -w --tag --name-prefix --run-id --phase --role --include-deleted --limit --offset --home --table --help -h" valued="--workspace -w --tag --name-prefix --run-id --phase --role --limit --offset --home" ;;
    "latest") offered="--workspace -w --run-id --phase --role --include-text --include-deleted --text --home --table --help -h" valued="--workspace -w --run-id --phase --role --home" ;;
    "list") offered="--workspace -w --run-id --phase --role --include-deleted --limit --offset --home --table --help -h" valued="--workspace -w --run-id --phase --role --limit --offset --home" ;;
    "mcp") offered="--toolsets --home --help -h" valued="--toolsets --home" ;;
    "purge") offered="--workspace -w --older-than-days --older-than --type --home --table --help -h" valued="--workspace -w --older-than-days --older-than --type --home" ;;
    "restore") offered="--id --home --table --help -h" valued="--id --home" ;;
    "restore-backup") offered="--path --home --table --help -h" files=1 valued="--path --home" ;;
    "search") offered="--query --types --workspace -w --run-id --search-mode --limit --offset --home --table --help -h" valued="--query --types --workspace -w --run-id --search-mode --limit --offset --home" ;;
    "serve") offered="--port --read-only --log --host --allowed-host --behind-proxy --tls-cert --tls-key --home --help -h" valued="--port --host --allowed-host --tls-cert --tls-key --home" ;;
    "store") offered="--capsule-text --workspace -w --name --title --tags --source --run-id --phase --role --mode --allow-thin --allow-secrets --file --home --table --help -h" valued="--capsule-text --workspace -w --name --title --tags --source --run-id --phase --role --mode --file --home" ;;
    "tools") offered="--query --names --home --table --help -h" valued="--query --names --home" ;;
    "tour") offered="--help -h" valued="" ;;
    "update") offered="--id --workspace -w --name --capsule-text --title --tags --source --run-id --phase --role --allow-thin --allow-secrets --file --home --table --help -h" valued="--id --workspace -w --name --capsule-text --title --tags --source --run-id --phase --role --file --home" ;;
    "artifact bulk-delete") offered="--workspace -w --kind --run-id --phase --role --tag --home --table --help -h" valued="--workspace -w --kind --run-id --phase --role --tag --home" ;;
    "artifact bulk-update") offered="--workspace -w --kind --run-id --phase --role --tag --set-phase --set-role --set-tags --set-ttl-seconds --allow-secrets --home --table --help -h" valued="--workspace -w --kind --run-id --phase --role --tag --set-phase --set-role --set-tags --set-ttl-seconds --home" ;;
    "artifact compose") offered="--items --format --store-as --allow-secrets --item --text --home --table --help -h" valued="--items --format --store-as --item --home" ;;
    "artifact delete") offered="--id --workspace -w --name --home --table --help -h" valued="--id --workspace -w --name --home" ;;
    "artifact fetch") offered="--id --workspace -w --name --include-expired --include-deleted --text --home --table --help -h" valued="--id --workspace -w --name --home" ;;
    "artifact kinds") offered="--home --table --help -h" valued="--home" ;;
    "artifact list") offered="--workspace -w --kind --run-id --phase --role --tag --include-expired --include-deleted --order-by --limit --offset --home --table --help -h" valued="--workspace -w --kind --run-id --phase --role --tag --order-by --limit --offset --home" ;;
    "artifact store") offered="--kind --data --workspace -w --name --text --run-id --phase --role --tags --ttl-seconds --expected-version --mode --validate --allow-secrets --file --home --table --help -h" valued="--kind --data --workspace -w --name --text --run-id --phase --role --tags --ttl-seconds --expected-version --mode --file --home" ;;
    "artifact touch") offered="--id --workspace -w --name --ttl-seconds --home --table --help -h" valued="--id --workspace -w --name --ttl-seconds --home" ;;
    "branch checkout") offered="--workspace -w --ref --branch --home --table --help -h" valued="--workspace -w --ref --branch --home" ;;
    "branch create") offered="--workspace -w --name --from --allow-secrets --home --table --help -h" valued="--workspace -w --name --from --home" ;;
    "branch delete") offered="--workspace -w --name --home --table --help -h" valued="--workspace -w --name --home" ;;
    "branch init") offered="--workspace -w --allow-secrets --home --table --help -h" valued="--workspace -w --home" ;;
    "branch list") offered="--workspace -w --limit --max-chars --max-bytes --max-lines --home --table --help -h" valued="--workspace -w --limit --max-chars --max-bytes --max-lines --home" ;;
    "branch rename") offered="--workspace -w --old --new --allow-secrets --home --table --help -h" valued="--workspace -w --old --new --home" ;;
    "branch status") offered="--workspace -w --max-chars --max-bytes --max-lines --home --table --help -h" valued="--workspace -w --max-chars --max-bytes --max-lines --home" ;;
    "capsule append") offered="--id --workspace -w --name --section --content --allow-secrets --file --home --table --help -h" valued="--id --workspace -w --name --section --content --file --home" ;;
    "capsule bulk-delete") offered="--workspace -w --tag --name-prefix --run-id --phase --role --home --table --help -h" valued="--workspace -w --tag --name-prefix --run-id --phase --role --home" ;;
    "capsule bulk-update") offered="--workspace -w --tag --name-prefix --run-id --phase --role --set-phase --set-role --set-tags --allow-secrets --home --table --help -h" valued="--workspace -w --tag --name-prefix --run-id --phase --role --set-phase --set-role --set-tags --home" ;;
    "capsule compose") offered="--items --sections --format --store-as --allow-secrets --item --text --home --table --help -h" valued="--items --sections --format --store-as --item --home" ;;
    "capsule delete") offered="--id --workspace -w --name --home --table --help -h" valued="--id --workspace -w --name --home" ;;
    "capsule export") offered="--path --workspace -w --include-deleted --all --with-history --home --table --help -h" files=1 valued="--path --workspace -w --home" ;;
    "capsule fetch") offered="--id --workspace -w --name --include-text --no-include-text --include-deleted --text --home --table --help -h" valued="--id --workspace -w --name --home" ;;
    "capsule fetch-many") offered="--items --include-text --no-include-text --include-deleted --item --home --table --help -h" valued="--items --item --home" ;;
    "capsule import") offered="--path --mode --max-bytes --home --table --help -h" files=1 valued="--path --mode --max-bytes --home" ;;
    "capsule inventory") offered="--workspace -w --tag --name-prefix --run-id --phase --role --include-deleted --limit --offset --home --table --help -h" valued="--workspace -w --tag --name-prefix --run-id --phase --role --limit --offset --home" ;;
    "capsule latest") offered="--workspace -w --run-id --phase --role --include-text --include-deleted --text --home --table --help -h" valued="--workspace -w --run-id --phase --role --home" ;;
    "capsule list") offered="--workspace -w --run-id --phase --role --include-deleted --limit --offset --home --table --help -h" valued="--workspace -w --run-id --phase --role --limit --offset --home" ;;
    "capsule purge") offered="--workspace -w --older-than-days --older-than --type --home --table --help -h" valued="--workspace -w --older-than-days --older-than --type --home" ;;
    "capsule restore") offered="--id --home --table --help -h" valued="--id --home" ;;
    "capsule search") offered="--query --workspace -w --tag --run-id --phase --role --include-deleted --search-mode --limit --offset --home --table --help -h" valued="--query --workspace -w --tag --run-id --phase --role --search-mode --limit --offset --home" ;;
    "capsule store") offered="--capsule-text --workspace -w --name --title --tags --source --run-id --phase --role --mode --allow-thin --allow-secrets --file --home --table --help -h" valued="--capsule-text --workspace -w --name --title --tags --source --run-id --phase --role --mode --file --home" ;;
    "capsule update") offered="--id --workspace -w --name --capsule-text --title --tags --source --run-id --phase --role --allow-thin --allow-secrets --file --home --table --help -h" valued="--id --workspace -w --name --capsule-text --title --tags --source --run-id --phase --role --file --home" ;;
    "graph apply") offered="--workspace -w --ops --target --branch --doc --allow-secrets --ref --file --home --table --help -h" valued="--workspace -w --ops --target --branch --doc --ref --file --home" ;;
    "graph conflict-resolve") offered="use_from use_into --workspace -w --conflict-id --resolution --home --table --help -h" valued="--workspace -w --conflict-id --resolution --home" ;;
    "graph conflict-show") offered="--workspace -w --conflict-id --max-chars --max-bytes --max-lines --home --table --help -h" valued="--workspace -w --conflict-id --max-chars --max-bytes --max-lines --home" ;;
    "graph conflicts") offered="--workspace -w --into --doc --status --cursor --limit --max-chars --max-bytes --max-lines --home --table --help -h" valued="--workspace -w --into --doc --status --cursor --limit --max-chars --max-bytes --max-lines --home" ;;
    "graph diff") offered="--workspace -w --from --to --doc --cursor --limit --max-chars --max-bytes --max-lines --home --table --help -h" valued="--workspace -w --from --to --doc --cursor --limit --max-chars --max-bytes --max-lines --home" ;;
    "graph draw") offered="--workspace -w --output -o --target --branch --doc --ids --types --status --tags-any --tags-all --text --limit --ref --home --table --help -h" valued="--workspace -w --output -o --target --branch --doc --ids --types --status --tags-any --tags-all --text --limit --ref --home" ;;
    "graph merge") offered="--workspace -w --from --into --doc --cursor --limit --dry-run --home --table --help -h" valued="--workspace -w --from --into --doc --cursor --limit --home" ;;
    "graph query") offered="--workspace -w --target --branch --doc --ids --types --status --tags-any --tags-all --text --cursor --limit --include-edges --no-include-edges --edges-limit --include-deleted --max-chars --max-bytes --max-lines --ref --home --table --help -h" valued="--workspace -w --target --branch --doc --ids --types --status --tags-any --tags-all --text --cursor --limit --edges-limit --max-chars --max-bytes --max-lines --ref --home" ;;
    "graph validate") offered="--workspace -w --target --branch --doc --max-errors --max-chars --max-bytes --max-lines --ref --home --table --help -h" valued="--workspace -w --target --branch --doc --max-errors --max-chars --max-bytes --max-lines --ref --home" ;;
    "history commit") offered="--workspace -w --artifact --message --docs --meta --allow-secrets --file --home --table --help -h" valued="--workspace -w --artifact --message --docs --meta --file --home" ;;
    "history log") offered="--workspace -w --ref --doc --cursor --limit --max-chars --max-bytes --max-lines --branch --home --table --help -h" valued="--workspace -w --ref --doc --cursor --limit --max-chars --max-bytes --max-lines --branch --home" ;;
    "history reflog") offered="--workspace -w --ref --cursor --limit --max-chars --max-bytes --max-lines --branch --home --table --help -h" valued="--workspace -w --ref --cursor --limit --max-chars --max-bytes --max-lines --branch --home" ;;
    "history reset") offered="--workspace -w --to --ref --branch --home --table --help -h" valued="--workspace -w --to --ref --branch --home" ;;
    "history tag-create") offered="--workspace -w --name --from --force --allow-secrets --home --table --help -h" valued="--workspace -w --name --from --home" ;;
    "history tag-delete") offered="--workspace -w --name --home --table --help -h" valued="--workspace -w --name --home" ;;
    "history tag-list") offered="--workspace -w --max-chars --max-bytes --max-lines --home --table --help -h" valued="--workspace -w --max-chars --max-bytes --max-lines --home" ;;
    "notes add") offered="--workspace -w --content --target --branch --doc --title --format --meta --allow-secrets --ref --file --home --table --help -h" valued="--workspace -w --content --target --branch --doc --title --format --meta --ref --file --home" ;;
    "notes diff") offered="--workspace -w --from --to --doc --cursor --limit --max-chars --max-bytes --max-lines --home --table --help -h" valued="--workspace -w --from --to --doc --cursor --limit --max-chars --max-bytes --max-lines --home" ;;
    "notes docs") offered="--workspace -w --ref --max-chars --max-bytes --max-lines --branch --home --table --help -h" valued="--workspace -w --ref --max-chars --max-bytes --max-lines --branch --home" ;;
    "notes export") offered="--workspace -w --target --notes-limit --trace-limit --max-chars --max-bytes --max-lines --home --table --help -h" valued="--workspace -w --target --notes-limit --trace-limit --max-chars --max-bytes --max-lines --home" ;;
    "notes merge") offered="--workspace -w --from --into --doc --cursor --limit --dry-run --home --table --help -h" valued="--workspace -w --from --into --doc --cursor --limit --home" ;;
    "notes show") offered="--workspace -w --target --branch --doc --doc-kind --cursor --limit --max-chars --max-bytes --max-lines --ref --home --table --help -h" valued="--workspace -w --target --branch --doc --doc-kind --cursor --limit --max-chars --max-bytes --max-lines --ref --home" ;;
    "record capabilities") offered="--home --table --help -h" valued="--home" ;;
    "record entities") offered="--entity-type --limit --offset --include-snapshots --no-include-snapshots --include-provenance --as-of --entity-id --workspace -w --home --table --help -h" valued="--entity-type --limit --offset --as-of --entity-id --workspace -w --home" ;;
    "record find") offered="--type --properties --search --search-mode --limit --offset --ids --include-total-count --workspace -w --home --table --help -h" valued="--type --properties --search --search-mode --limit --offset --ids --workspace -w --home" ;;
    "record migrate") offered="--dir --workspace -w --dry-run --home --table --help -h" files=1 valued="--dir --workspace -w --home" ;;
    "record submit") offered="--capability-id --body --provenance --client-request-id --workspace -w --allow-secrets --file --home --table --help -h" valued="--capability-id --body --provenance --client-request-id --workspace -w --file --home" ;;
    "record timeline") offered="--event-type --after-date --before-date --source-record-id --entity-id --entity-type --limit --offset --workspace -w --home --table --help -h" valued="--event-type --after-date --before-date --source-record-id --entity-id --entity-type --limit --offset --workspace -w --home" ;;
    "task block") offered="--workspace -w --target --step-id --path --blocked --no-blocked --reason --expected-revision --allow-secrets --home --table --help -h" valued="--workspace -w --target --step-id --path --reason --expected-revision --home" ;;
    "task board") offered="--workspace -w --plan --home --table --help -h" valued="--workspace -w --plan --home" ;;
    "task claim") offered="--workspace -w --agent --target --step-id --path --lease-s --release --allow-secrets --home --table --help -h" valued="--workspace -w --agent --target --step-id --path --lease-s --home" ;;
    "task complete") offered="--workspace -w --target --status --expected-revision --home --table --help -h" valued="--workspace -w --target --status --expected-revision --home" ;;
    "task create") offered="plan task --workspace -w --kind --title --parent --description --priority --tags --steps --expected-revision --allow-secrets --home --table --help -h" valued="--workspace -w --kind --title --parent --description --priority --tags --steps --expected-revision --home" ;;
    "task decompose") offered="--workspace -w --target --steps --parent --expected-revision --allow-secrets --file --home --table --help -h" valued="--workspace -w --target --steps --parent --expected-revision --file --home" ;;
    "task define") offered="--workspace -w --target --step-id --path --title --success-criteria --tests --blockers --expected-revision --allow-secrets --home --table --help -h" valued="--workspace -w --target --step-id --path --title --success-criteria --tests --blockers --expected-revision --home" ;;
    "task delete") offered="--workspace -w --target --step-id --path --expected-revision --home --table --help -h" valued="--workspace -w --target --step-id --path --expected-revision --home" ;;
    "task delta") offered="--workspace -w --since --limit --max-chars --max-bytes --max-lines --home --table --help -h" valued="--workspace -w --since --limit --max-chars --max-bytes --max-lines --home" ;;
    "task done") offered="--workspace -w --target --step-id --path --checkpoints --expected-revision --home --table --help -h" valued="--workspace -w --target --step-id --path --checkpoints --expected-revision --home" ;;
    "task edit") offered="--workspace -w --target --title --description --priority --tags --depends-on --contract --expected-revision --allow-secrets --home --table --help -h" valued="--workspace -w --target --title --description --priority --tags --depends-on --contract --expected-revision --home" ;;
    "task evidence") offered="--workspace -w --target --step-id --path --links --checks --texts --expected-revision --allow-secrets --home --table --help -h" valued="--workspace -w --target --step-id --path --links --checks --texts --expected-revision --home" ;;
    "task focus") offered="--workspace -w --action --target --home --table --help -h" valued="--workspace -w --action --target --home" ;;
    "task handoff") offered="--workspace -w --target --as-capsule --max-chars --max-bytes --max-lines --allow-secrets --home --table --help -h" valued="--workspace -w --target --max-chars --max-bytes --max-lines --home" ;;
    "task list") offered="--workspace -w --kind --status --parent --tag --limit --offset --max-chars --max-bytes --max-lines --home --table --help -h" valued="--workspace -w --kind --status --parent --tag --limit --offset --max-chars --max-bytes --max-lines --home" ;;
    "task note") offered="--workspace -w --target --note --step-id --path --agent --expected-revision --allow-secrets --file --home --table --help -h" valued="--workspace -w --target --note --step-id --path --agent --expected-revision --file --home" ;;
    "task radar") offered="--workspace -w --target --max-chars --max-bytes --max-lines --home --table --help -h" valued="--workspace -w --target --max-chars --max-bytes --max-lines --home" ;;
    "task ready") offered="--workspace -w --parent --tag --limit --offset --max-chars --max-bytes --max-lines --home --table --help -h" valued="--workspace -w --parent --tag --limit --offset --max-chars --max-bytes --max-lines --home" ;;
    "task reopen") offered="--workspace -w --target --step-id --path --expected-revision --home --table --help -h" valued="--workspace -w --target --step-id --path --expected-revision --home" ;;
    "task show") offered="--workspace -w --target --step-id --path --max-chars --max-bytes --max-lines --home --table --help -h" valued="--workspace -w --target --step-id --path --max-chars --max-bytes --max-lines --home" ;;
    "task verify") offered="--workspace -w --target --checkpoints --step-id --path --expected-revision --home --table --help -h" valued="--workspace -w --target --checkpoints --step-id --path --expected-revision --home" ;;
    "think add-decision") offered="--workspace -w --card --target --branch --trace-doc --graph-doc --supports --blocks --allow-secrets --ref --file --home --table --help -h" valued="--workspace -w --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file --home" ;;
    "think add-evidence") offered="--workspace -w --card --target --branch --trace-doc --graph-doc --supports --blocks --allow-secrets --ref --file --home --table --help -h" valued="--workspace -w --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file --home" ;;
    "think add-frame") offered="--workspace -w --card --target --branch --trace-doc --graph-doc --supports --blocks --allow-secrets --ref --file --home --table --help -h" valued="--workspace -w --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file --home" ;;
    "think add-hypothesis") offered="--workspace -w --card --target --branch --trace-doc --graph-doc --supports --blocks --allow-secrets --ref --file --home --table --help -h" valued="--workspace -w --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file --home" ;;
    "think add-note") offered="--workspace -w --card --target --branch --trace-doc --graph-doc --supports --blocks --allow-secrets --ref --file --home --table --help -h" valued="--workspace -w --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file --home" ;;
    "think add-question") offered="--workspace -w --card --target --branch --trace-doc --graph-doc --supports --blocks --allow-secrets --ref --file --home --table --help -h" valued="--workspace -w --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file --home" ;;
    "think add-test") offered="--workspace -w --card --target --branch --trace-doc --graph-doc --supports --blocks --allow-secrets --ref --file --home --table --help -h" valued="--workspace -w --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file --home" ;;
    "think add-update") offered="--workspace -w --card --target --branch --trace-doc --graph-doc --supports --blocks --allow-secrets --ref --file --home --table --help -h" valued="--workspace -w --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file --home" ;;
    "think card") offered="--workspace -w --card --target --branch --trace-doc --graph-doc --supports --blocks --allow-secrets --ref --file --home --table --help -h" valued="--workspace -w --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file --home" ;;
    "think context") offered="--workspace -w --target --branch --graph-doc --limit-cards --max-chars --max-bytes --max-lines --ref --home --table --help -h" valued="--workspace -w --target --branch --graph-doc --limit-cards --max-chars --max-bytes --max-lines --ref --home" ;;
    "think context-pack") offered="--workspace -w --target --ref --notes-doc --trace-doc --graph-doc --notes-limit --trace-limit --limit-cards --include --run-id --max-chars --max-bytes --max-lines --branch --home --table --help -h" valued="--workspace -w --target --ref --notes-doc --trace-doc --graph-doc --notes-limit --trace-limit --limit-cards --include --run-id --max-chars --max-bytes --max-lines --branch --home" ;;
    "think frontier") offered="--workspace -w --target --ref --graph-doc --limit --max-chars --max-bytes --max-lines --branch --home --table --help -h" valued="--workspace -w --target --ref --graph-doc --limit --max-chars --max-bytes --max-lines --branch --home" ;;
    "think link") offered="--workspace -w --from --rel --to --meta --target --ref --graph-doc --allow-secrets --branch --home --table --help -h" valued="--workspace -w --from --rel --to --meta --target --ref --graph-doc --branch --home" ;;
    "think next") offered="--workspace -w --target --ref --graph-doc --max-chars --max-bytes --max-lines --branch --home --table --help -h" valued="--workspace -w --target --ref --graph-doc --max-chars --max-bytes --max-lines --branch --home" ;;
    "think nominal-merge") offered="--workspace -w --candidate-ids --dry-run --target --ref --graph-doc --branch --home --table --help -h" valued="--workspace -w --candidate-ids --target --ref --graph-doc --branch --home" ;;
    "think pack") offered="--workspace -w --target --ref --graph-doc --limit-cards --max-chars --max-bytes --max-lines --branch --home --table --help -h" valued="--workspace -w --target --ref --graph-doc --limit-cards --max-chars --max-bytes --max-lines --branch --home" ;;
    "think pin") offered="--workspace -w --ids --pinned --no-pinned --target --ref --graph-doc --branch --home --table --help -h" valued="--workspace -w --ids --target --ref --graph-doc --branch --home" ;;
    "think pins") offered="--workspace -w --target --ref --graph-doc --cursor --limit --max-chars --max-bytes --max-lines --branch --home --table --help -h" valued="--workspace -w --target --ref --graph-doc --cursor --limit --max-chars --max-bytes --max-lines --branch --home" ;;
    "think playbook") offered="--workspace -w --name --max-chars --max-bytes --max-lines --home --table --help -h" valued="--workspace -w --name --max-chars --max-bytes --max-lines --home" ;;
    "think query") offered="--workspace -w --target --ref --graph-doc --ids --types --status --tags-any --tags-all --text --cursor --limit --max-chars --max-bytes --max-lines --branch --home --table --help -h" valued="--workspace -w --target --ref --graph-doc --ids --types --status --tags-any --tags-all --text --cursor --limit --max-chars --max-bytes --max-lines --branch --home" ;;
    "think set-status") offered="--workspace -w --ids --status --target --ref --graph-doc --branch --home --table --help -h" valued="--workspace -w --ids --status --target --ref --graph-doc --branch --home" ;;
    "think subgoal-close") offered="--workspace -w --subgoal-id --return-card --target --ref --graph-doc --allow-secrets --branch --home --table --help -h" valued="--workspace -w --subgoal-id --return-card --target --ref --graph-doc --branch --home" ;;
    "think subgoal-open") offered="--workspace -w --question-id --title --text --target --ref --graph-doc --allow-secrets --branch --home --table --help -h" valued="--workspace -w --question-id --title --text --target --ref --graph-doc --branch --home" ;;
    "think template") offered="--workspace -w --type --max-chars --max-bytes --max-lines --home --table --help -h" valued="--workspace -w --type --max-chars --max-bytes --max-lines --home" ;;
    "think watch") offered="--workspace -w --target --ref --graph-doc --trace-doc --limit --trace-limit --max-chars --max-bytes --max-lines --branch --home --table --help -h" valued="--workspace -w --target --ref --graph-doc --trace-doc --limit --trace-limit --max-chars --max-bytes --max-lines --branch --home" ;;
    "trace hydrate") offered="--workspace -w --target --ref --doc --cursor --limit --max-chars --max-bytes --max-lines --branch --home --table --help -h" valued="--workspace -w --target --ref --doc --cursor --limit --max-chars --max-bytes --max-lines --branch --home" ;;
    "trace sequential-step") offered="--workspace -w --thought --thought-number --total-thoughts --next-thought-needed --is-revision --revises-thought --branch-from-thought --branch-id --meta --target --ref --doc --allow-secrets --branch --file --home --table --help -h" valued="--workspace -w --thought --thought-number --total-thoughts --revises-thought --branch-from-thought --branch-id --meta --target --ref --doc --branch --file --home" ;;
    "trace step") offered="--workspace -w --step --message --mode --supports --blocks --meta --target --ref --doc --allow-secrets --branch --home --table --help -h" valued="--workspace -w --step --message --mode --supports --blocks --meta --target --ref --doc --branch --home" ;;
    "trace validate") offered="--workspace -w --target --ref --doc --max-chars --max-bytes --max-lines --branch --home --table --help -h" valued="--workspace -w --target --ref --doc --max-chars --max-bytes --max-lines --branch --home" ;;
    "artifact") offered="bulk-delete bulk-update compose delete fetch kinds list store touch" ;;
    "branch") offered="checkout create delete init list rename status" ;;
    "capsule") offered="append bulk-delete bulk-update compose delete export fetch fetch-many import inventory latest list purge restore search store update" ;;
    "graph") offered="apply conflict-resolve conflict-show conflicts diff draw merge query validate" ;;
    "history") offered="commit log reflog reset tag-create tag-delete tag-list" ;;
    "notes") offered="add diff docs export merge show" ;;
    "record") offered="capabilities entities find migrate submit timeline" ;;
    "task") offered="block board claim complete create decompose define delete delta done edit evidence focus handoff list note radar ready reopen show verify" ;;
    "think") offered="add-decision add-evidence add-frame add-hypothesis add-note add-question add-test add-update card context context-pack frontier link next nominal-merge pack pin pins playbook query set-status subgoal-close subgoal-open template watch" ;;
    "trace") offered="hydrate sequential-step step validate" ;;
  esac; fi
  # After an option that takes a value: what it can be, or nothing.
  if [[ " $valued " == *" $previous "* ]]; then offered="" files=""; fi
  case "$command $previous" in
    "append --file") files=1 ;;
    "backup --path") files=1 ;;
    "completion --shell") offered="bash zsh fish" ;;
    "compose --format") offered="markdown json" ;;
    "export --path") files=1 ;;
    "help --command") offered="append backup bulk-delete bulk-update call completion compose config delete doctor export fetch fetch-many help import index inventory latest list mcp purge restore restore-backup search serve store tools tour update artifact branch capsule graph history notes record task think trace" ;;
    "import --path") files=1 ;;
    "import --mode") offered="error replace rename" ;;
    "mcp --toolsets") offered="capsule artifact reasoning task record core" ;;
    "restore-backup --path") files=1 ;;
    "search --types") offered="capsule artifact note node record" ;;
    "search --search-mode") offered="keyword semantic both" ;;
    "store --mode") offered="error replace" ;;
    "store --file") files=1 ;;
    "update --file") files=1 ;;
    "artifact compose --format") offered="markdown json" ;;
    "artifact list --order-by") offered="updated_at created_at" ;;
    "artifact store --mode") offered="error replace" ;;
    "artifact store --file") files=1 ;;
    "capsule append --file") files=1 ;;
    "capsule compose --format") offered="markdown json" ;;
    "capsule export --path") files=1 ;;
    "capsule import --path") files=1 ;;
    "capsule import --mode") offered="error replace rename" ;;
    "capsule search --search-mode") offered="keyword semantic both" ;;
    "capsule store --mode") offered="error replace" ;;
    "capsule store --file") files=1 ;;
    "capsule update --file") files=1 ;;
    "graph apply --file") files=1 ;;
    "graph conflict-resolve --resolution") offered="use_from use_into" ;;
    "graph conflicts --status") offered="open resolved" ;;
    "graph draw --output"|"graph draw -o") files=1 ;;
    "history commit --file") files=1 ;;
    "notes add --file") files=1 ;;
    "notes show --doc-kind") offered="notes trace" ;;
    "record find --search-mode") offered="keyword semantic both" ;;
    "record migrate --dir") files=1 ;;
    "record submit --file") files=1 ;;
    "task claim --path") files=1 ;;
    "task complete --status") offered="TODO ACTIVE DONE" ;;
    "task create --kind") offered="plan task" ;;
    "task create --priority") offered="low normal high" ;;
    "task edit --priority") offered="low normal high" ;;
    "task focus --action") offered="get set clear" ;;
    "task list --kind") offered="plan task" ;;
    "task list --status") offered="TODO ACTIVE DONE" ;;
    "think add-decision --file") files=1 ;;
    "think add-evidence --file") files=1 ;;
    "think add-frame --file") files=1 ;;
    "think add-hypothesis --file") files=1 ;;
    "think add-note --file") files=1 ;;
    "think add-question --file") files=1 ;;
    "think add-test --file") files=1 ;;
    "think add-update --file") files=1 ;;
    "think card --file") files=1 ;;
    "think context-pack --include") offered="capsules artifacts" ;;
    "trace sequential-step --file") files=1 ;;
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
  if [[ -n "$files" ]]; then
    COMPREPLY+=($(compgen -f -- "$current")); compopt -o filenames 2> /dev/null
  fi
}
complete -F _moss moss moss-memory
