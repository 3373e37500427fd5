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
  if (( place == 1 )); then offered="append backup bulk-delete bulk-update completion compose config delete doctor export fetch fetch-many help import index inventory latest list mcp purge restore search store tour update artifact branch capsule graph history notes record task think trace --help --version --home"
  else case "$command" in
    "append") offered="--id --workspace --name --section --content --file -w --home --table --help" valued="--id --workspace --name --section --content --file -w" ;;
    "backup") offered="--path --home --table --help" files=1 valued="--path" ;;
    "bulk-delete") offered="--workspace --tag --name-prefix --run-id --phase --role -w --home --table --help" valued="--workspace --tag --name-prefix --run-id --phase --role -w" ;;
    "bulk-update") offered="--workspace --tag --name-prefix --run-id --phase --role --set-phase --set-role --set-tags -w --home --table --help" valued="--workspace --tag --name-prefix --run-id --phase --role --set-phase --set-role --set-tags -w" ;;
    "completion") offered="bash zsh fish --shell --help" valued="--shell" ;;
    "compose") offered="--items --sections --format --store-as --item --text --home --table --help" valued="--items --sections --format --store-as --item" ;;
    "config") offered="--home --table --help" valued="" ;;
    "delete") offered="--id --workspace --name -w --home --table --help" valued="--id --workspace --name -w" ;;
    "doctor") offered="--fix --home --table --help" valued="" ;;
    "export") offered="--path --workspace --include-deleted -w --home --table --help" files=1 valued="--path --workspace -w" ;;
    "fetch") offered="--id --workspace --name --include-text --include-deleted --text --no-include-text -w --home --table --help" valued="--id --workspace --name -w" ;;
    "fetch-many") offered="--items --include-text --include-deleted --item --no-include-text --home --table --help" valued="--items --item" ;;
    "help") offered="append backup bulk-delete bulk-update completion compose config delete doctor export fetch fetch-many help import index inventory latest list mcp purge restore search store tour update artifact branch capsule graph history notes record task think trace --command --help" valued="--command" ;;
    "import") offered="--path --mode --max-bytes --home --table --help" files=1 valued="--path --mode --max-bytes" ;;
    "index") offered="--rebuild --home --table --help" valued="" ;;
    "inventory") offered="--workspace --tag --name-prefix --run-id --phase --role --include-deleted --limit --offset -w --home --table --help" valued="--workspace --tag --name-prefix --run-id --phase --role --limit --offset -w" ;;
    "latest") offered="--workspace --run-id --phase --role --include-text --include-deleted --text -w --home --table --help" valued="--workspace --run-id --phase --role -w" ;;
    "list") offered="--workspace --run-id --phase --role --include-deleted --limit --offset -w --home --table --help" valued="--workspace --run-id --phase --role --limit --offset -w" ;;
    "mcp") offered="--toolsets --home --help" valued="--toolsets" ;;
    "purge") offered="--workspace --older-than-days --older-than --type -w --home --table --help" valued="--workspace --older-than-days --older-than --type -w" ;;
    "restore") offered="--id --home --table --help" valued="--id" ;;
    "search") offered="--query --types --workspace --run-id --search-mode --limit --offset -w --home --table --help" valued="--query --types --workspace --run-id --search-mode --limit --offset -w" ;;
    "store") offered="--capsule-text --workspace --name --title --tags --source --run-id --phase --role --mode --allow-thin --file -w --home --table --help" valued="--capsule-text --workspace --name --title --tags --source --run-id --phase --role --mode --file -w" ;;
    "tour") offered="--help" valued="" ;;
    "update") offered="--id --workspace --name --capsule-text --title --tags --source --run-id --phase --role --allow-thin --file -w --home --table --help" valued="--id --workspace --name --capsule-text --title --tags --source --run-id --phase --role --file -w" ;;
    "artifact bulk-delete") offered="--workspace --kind --run-id --phase --role --tag -w --home --table --help" valued="--workspace --kind --run-id --phase --role --tag -w" ;;
    "artifact bulk-update") offered="--workspace --kind --run-id --phase --role --tag --set-phase --set-role --set-tags --set-ttl-seconds -w --home --table --help" valued="--workspace --kind --run-id --phase --role --tag --set-phase --set-role --set-tags --set-ttl-seconds -w" ;;
    "artifact compose") offered="--items --format --store-as --item --text --home --table --help" valued="--items --format --store-as --item" ;;
    "artifact delete") offered="--id --workspace --name -w --home --table --help" valued="--id --workspace --name -w" ;;
    "artifact fetch") offered="--id --workspace --name --include-expired --include-deleted --text -w --home --table --help" valued="--id --workspace --name -w" ;;
    "artifact kinds") offered="--home --table --help" valued="" ;;
    "artifact list") offered="--workspace --kind --run-id --phase --role --tag --include-expired --include-deleted --order-by --limit --offset -w --home --table --help" valued="--workspace --kind --run-id --phase --role --tag --order-by --limit --offset -w" ;;
    "artifact store") offered="--kind --data --workspace --name --text --run-id --phase --role --tags --ttl-seconds --expected-version --mode --validate --file -w --home --table --help" valued="--kind --data --workspace --name --text --run-id --phase --role --tags --ttl-seconds --expected-version --mode --file -w" ;;
    "artifact touch") offered="--id --workspace --name --ttl-seconds -w --home --table --help" valued="--id --workspace --name --ttl-seconds -w" ;;
    "branch checkout") offered="--workspace --ref --branch -w --home --table --help" valued="--workspace --ref --branch -w" ;;
    "branch create") offered="--workspace --name --from -w --home --table --help" valued="--workspace --name --from -w" ;;
    "branch delete") offered="--workspace --name -w --home --table --help" valued="--workspace --name -w" ;;
    "branch init") offered="--workspace -w --home --table --help" valued="--workspace -w" ;;
    "branch list") offered="--workspace --limit --max-chars --max-bytes --max-lines -w --home --table --help" valued="--workspace --limit --max-chars --max-bytes --max-lines -w" ;;
    "branch rename") offered="--workspace --old --new -w --home --table --help" valued="--workspace --old --new -w" ;;
    "branch status") offered="--workspace --max-chars --max-bytes --max-lines -w --home --table --help" valued="--workspace --max-chars --max-bytes --max-lines -w" ;;
    "capsule append") offered="--id --workspace --name --section --content --file -w --home --table --help" valued="--id --workspace --name --section --content --file -w" ;;
    "capsule bulk-delete") offered="--workspace --tag --name-prefix --run-id --phase --role -w --home --table --help" valued="--workspace --tag --name-prefix --run-id --phase --role -w" ;;
    "capsule bulk-update") offered="--workspace --tag --name-prefix --run-id --phase --role --set-phase --set-role --set-tags -w --home --table --help" valued="--workspace --tag --name-prefix --run-id --phase --role --set-phase --set-role --set-tags -w" ;;
    "capsule compose") offered="--items --sections --format --store-as --item --text --home --table --help" valued="--items --sections --format --store-as --item" ;;
    "capsule delete") offered="--id --workspace --name -w --home --table --help" valued="--id --workspace --name -w" ;;
    "capsule export") offered="--path --workspace --include-deleted -w --home --table --help" files=1 valued="--path --workspace -w" ;;
    "capsule fetch") offered="--id --workspace --name --include-text --include-deleted --text --no-include-text -w --home --table --help" valued="--id --workspace --name -w" ;;
    "capsule fetch-many") offered="--items --include-text --include-deleted --item --no-include-text --home --table --help" valued="--items --item" ;;
    "capsule import") offered="--path --mode --max-bytes --home --table --help" files=1 valued="--path --mode --max-bytes" ;;
    "capsule inventory") offered="--workspace --tag --name-prefix --run-id --phase --role --include-deleted --limit --offset -w --home --table --help" valued="--workspace --tag --name-prefix --run-id --phase --role --limit --offset -w" ;;
    "capsule latest") offered="--workspace --run-id --phase --role --include-text --include-deleted --text -w --home --table --help" valued="--workspace --run-id --phase --role -w" ;;
    "capsule list") offered="--workspace --run-id --phase --role --include-deleted --limit --offset -w --home --table --help" valued="--workspace --run-id --phase --role --limit --offset -w" ;;
    "capsule purge") offered="--workspace --older-than-days --older-than --type -w --home --table --help" valued="--workspace --older-than-days --older-than --type -w" ;;
    "capsule restore") offered="--id --home --table --help" valued="--id" ;;
    "capsule search") offered="--query --workspace --tag --run-id --phase --role --include-deleted --search-mode --limit --offset -w --home --table --help" valued="--query --workspace --tag --run-id --phase --role --search-mode --limit --offset -w" ;;
    "capsule store") offered="--capsule-text --workspace --name --title --tags --source --run-id --phase --role --mode --allow-thin --file -w --home --table --help" valued="--capsule-text --workspace --name --title --tags --source --run-id --phase --role --mode --file -w" ;;
    "capsule update") offered="--id --workspace --name --capsule-text --title --tags --source --run-id --phase --role --allow-thin --file -w --home --table --help" valued="--id --workspace --name --capsule-text --title --tags --source --run-id --phase --role --file -w" ;;
    "graph apply") offered="--workspace --ops --target --branch --doc --ref --file -w --home --table --help" valued="--workspace --ops --target --branch --doc --ref --file -w" ;;
    "graph conflict-resolve") offered="use_from use_into --workspace --conflict-id --resolution -w --home --table --help" valued="--workspace --conflict-id --resolution -w" ;;
    "graph conflict-show") offered="--workspace --conflict-id --max-chars --max-bytes --max-lines -w --home --table --help" valued="--workspace --conflict-id --max-chars --max-bytes --max-lines -w" ;;
    "graph conflicts") offered="--workspace --into --doc --status --cursor --limit --max-chars --max-bytes --max-lines -w --home --table --help" valued="--workspace --into --doc --status --cursor --limit --max-chars --max-bytes --max-lines -w" ;;
    "graph diff") offered="--workspace --from --to --doc --cursor --limit --max-chars --max-bytes --max-lines -w --home --table --help" valued="--workspace --from --to --doc --cursor --limit --max-chars --max-bytes --max-lines -w" ;;
    "graph draw") offered="--workspace --output --target --branch --doc --ids --types --status --tags-any --tags-all --text --limit --ref -w -o --home --table --help" valued="--workspace --output --target --branch --doc --ids --types --status --tags-any --tags-all --text --limit --ref -w -o" ;;
    "graph merge") offered="--workspace --from --into --doc --cursor --limit --dry-run -w --home --table --help" valued="--workspace --from --into --doc --cursor --limit -w" ;;
    "graph query") offered="--workspace --target --branch --doc --ids --types --status --tags-any --tags-all --text --cursor --limit --include-edges --edges-limit --include-deleted --max-chars --max-bytes --max-lines --ref --no-include-edges -w --home --table --help" valued="--workspace --target --branch --doc --ids --types --status --tags-any --tags-all --text --cursor --limit --edges-limit --max-chars --max-bytes --max-lines --ref -w" ;;
    "graph validate") offered="--workspace --target --branch --doc --max-errors --max-chars --max-bytes --max-lines --ref -w --home --table --help" valued="--workspace --target --branch --doc --max-errors --max-chars --max-bytes --max-lines --ref -w" ;;
    "history commit") offered="--workspace --artifact --message --docs --meta --file -w --home --table --help" valued="--workspace --artifact --message --docs --meta --file -w" ;;
    "history log") offered="--workspace --ref --doc --cursor --limit --max-chars --max-bytes --max-lines --branch -w --home --table --help" valued="--workspace --ref --doc --cursor --limit --max-chars --max-bytes --max-lines --branch -w" ;;
    "history reflog") offered="--workspace --ref --cursor --limit --max-chars --max-bytes --max-lines --branch -w --home --table --help" valued="--workspace --ref --cursor --limit --max-chars --max-bytes --max-lines --branch -w" ;;
    "history reset") offered="--workspace --to --ref --branch -w --home --table --help" valued="--workspace --to --ref --branch -w" ;;
    "history tag-create") offered="--workspace --name --from --force -w --home --table --help" valued="--workspace --name --from -w" ;;
    "history tag-delete") offered="--workspace --name -w --home --table --help" valued="--workspace --name -w" ;;
    "history tag-list") offered="--workspace --max-chars --max-bytes --max-lines -w --home --table --help" valued="--workspace --max-chars --max-bytes --max-lines -w" ;;
    "notes add") offered="--workspace --content --target --branch --doc --title --format --meta --ref --file -w --home --table --help" valued="--workspace --content --target --branch --doc --title --format --meta --ref --file -w" ;;
    "notes diff") offered="--workspace --from --to --doc --cursor --limit --max-chars --max-bytes --max-lines -w --home --table --help" valued="--workspace --from --to --doc --cursor --limit --max-chars --max-bytes --max-lines -w" ;;
    "notes docs") offered="--workspace --ref --max-chars --max-bytes --max-lines --branch -w --home --table --help" valued="--workspace --ref --max-chars --max-bytes --max-lines --branch -w" ;;
    "notes export") offered="--workspace --target --notes-limit --trace-limit --max-chars --max-bytes --max-lines -w --home --table --help" valued="--workspace --target --notes-limit --trace-limit --max-chars --max-bytes --max-lines -w" ;;
    "notes merge") offered="--workspace --from --into --doc --cursor --limit --dry-run -w --home --table --help" valued="--workspace --from --into --doc --cursor --limit -w" ;;
    "notes show") offered="--workspace --target --branch --doc --doc-kind --cursor --limit --max-chars --max-bytes --max-lines --ref -w --home --table --help" valued="--workspace --target --branch --doc --doc-kind --cursor --limit --max-chars --max-bytes --max-lines --ref -w" ;;
    "record capabilities") offered="--home --table --help" valued="" ;;
    "record entities") offered="--entity-type --limit --offset --include-snapshots --include-provenance --as-of --entity-id --workspace --no-include-snapshots -w --home --table --help" valued="--entity-type --limit --offset --as-of --entity-id --workspace -w" ;;
    "record find") offered="--type --properties --search --search-mode --limit --offset --ids --include-total-count --workspace -w --home --table --help" valued="--type --properties --search --search-mode --limit --offset --ids --workspace -w" ;;
    "record migrate") offered="--dir --workspace --dry-run -w --home --table --help" valued="--dir --workspace -w" ;;
    "record submit") offered="--capability-id --body --provenance --client-request-id --workspace --file -w --home --table --help" valued="--capability-id --body --provenance --client-request-id --workspace --file -w" ;;
    "record timeline") offered="--event-type --after-date --before-date --source-record-id --entity-id --entity-type --limit --offset --workspace -w --home --table --help" valued="--event-type --after-date --before-date --source-record-id --entity-id --entity-type --limit --offset --workspace -w" ;;
    "task block") offered="--workspace --target --step-id --path --blocked --reason --expected-revision --no-blocked -w --home --table --help" valued="--workspace --target --step-id --path --reason --expected-revision -w" ;;
    "task board") offered="--workspace --plan -w --home --table --help" valued="--workspace --plan -w" ;;
    "task complete") offered="--workspace --target --status --expected-revision -w --home --table --help" valued="--workspace --target --status --expected-revision -w" ;;
    "task create") offered="plan task --workspace --kind --title --parent --description --priority --tags --steps --expected-revision -w --home --table --help" valued="--workspace --kind --title --parent --description --priority --tags --steps --expected-revision -w" ;;
    "task decompose") offered="--workspace --target --steps --parent --expected-revision --file -w --home --table --help" valued="--workspace --target --steps --parent --expected-revision --file -w" ;;
    "task define") offered="--workspace --target --step-id --path --title --success-criteria --tests --blockers --expected-revision -w --home --table --help" valued="--workspace --target --step-id --path --title --success-criteria --tests --blockers --expected-revision -w" ;;
    "task delete") offered="--workspace --target --step-id --path --expected-revision -w --home --table --help" valued="--workspace --target --step-id --path --expected-revision -w" ;;
    "task delta") offered="--workspace --since --limit --max-chars --max-bytes --max-lines -w --home --table --help" valued="--workspace --since --limit --max-chars --max-bytes --max-lines -w" ;;
    "task done") offered="--workspace --target --step-id --path --checkpoints --expected-revision -w --home --table --help" valued="--workspace --target --step-id --path --checkpoints --expected-revision -w" ;;
    "task edit") offered="--workspace --target --title --description --priority --tags --depends-on --contract --expected-revision -w --home --table --help" valued="--workspace --target --title --description --priority --tags --depends-on --contract --expected-revision -w" ;;
    "task evidence") offered="--workspace --target --step-id --path --links --checks --texts --expected-revision -w --home --table --help" valued="--workspace --target --step-id --path --links --checks --texts --expected-revision -w" ;;
    "task focus") offered="--workspace --action --target -w --home --table --help" valued="--workspace --action --target -w" ;;
    "task handoff") offered="--workspace --target --as-capsule --max-chars --max-bytes --max-lines -w --home --table --help" valued="--workspace --target --max-chars --max-bytes --max-lines -w" ;;
    "task list") offered="--workspace --kind --status --parent --tag --limit --offset --max-chars --max-bytes --max-lines -w --home --table --help" valued="--workspace --kind --status --parent --tag --limit --offset --max-chars --max-bytes --max-lines -w" ;;
    "task note") offered="--workspace --target --note --step-id --path --expected-revision --file -w --home --table --help" valued="--workspace --target --note --step-id --path --expected-revision --file -w" ;;
    "task radar") offered="--workspace --target --max-chars --max-bytes --max-lines -w --home --table --help" valued="--workspace --target --max-chars --max-bytes --max-lines -w" ;;
    "task reopen") offered="--workspace --target --step-id --path --expected-revision -w --home --table --help" valued="--workspace --target --step-id --path --expected-revision -w" ;;
    "task verify") offered="--workspace --target --checkpoints --step-id --path --expected-revision -w --home --table --help" valued="--workspace --target --checkpoints --step-id --path --expected-revision -w" ;;
    "think add-decision") offered="--workspace --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file -w --home --table --help" valued="--workspace --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file -w" ;;
    "think add-evidence") offered="--workspace --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file -w --home --table --help" valued="--workspace --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file -w" ;;
    "think add-frame") offered="--workspace --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file -w --home --table --help" valued="--workspace --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file -w" ;;
    "think add-hypothesis") offered="--workspace --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file -w --home --table --help" valued="--workspace --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file -w" ;;
    "think add-note") offered="--workspace --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file -w --home --table --help" valued="--workspace --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file -w" ;;
    "think add-question") offered="--workspace --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file -w --home --table --help" valued="--workspace --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file -w" ;;
    "think add-test") offered="--workspace --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file -w --home --table --help" valued="--workspace --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file -w" ;;
    "think add-update") offered="--workspace --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file -w --home --table --help" valued="--workspace --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file -w" ;;
    "think card") offered="--workspace --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file -w --home --table --help" valued="--workspace --card --target --branch --trace-doc --graph-doc --supports --blocks --ref --file -w" ;;
    "think context") offered="--workspace --target --branch --graph-doc --limit-cards --max-chars --max-bytes --max-lines --ref -w --home --table --help" valued="--workspace --target --branch --graph-doc --limit-cards --max-chars --max-bytes --max-lines --ref -w" ;;
    "think context-pack") offered="--workspace --target --ref --notes-doc --trace-doc --graph-doc --notes-limit --trace-limit --limit-cards --include --run-id --max-chars --max-bytes --max-lines --branch -w --home --table --help" valued="--workspace --target --ref --notes-doc --trace-doc --graph-doc --notes-limit --trace-limit --limit-cards --include --run-id --max-chars --max-bytes --max-lines --branch -w" ;;
    "think frontier") offered="--workspace --target --ref --graph-doc --limit --max-chars --max-bytes --max-lines --branch -w --home --table --help" valued="--workspace --target --ref --graph-doc --limit --max-chars --max-bytes --max-lines --branch -w" ;;
    "think link") offered="--workspace --from --rel --to --meta --target --ref --graph-doc --branch -w --home --table --help" valued="--workspace --from --rel --to --meta --target --ref --graph-doc --branch -w" ;;
    "think next") offered="--workspace --target --ref --graph-doc --max-chars --max-bytes --max-lines --branch -w --home --table --help" valued="--workspace --target --ref --graph-doc --max-chars --max-bytes --max-lines --branch -w" ;;
    "think nominal-merge") offered="--workspace --candidate-ids --dry-run --target --ref --graph-doc --branch -w --home --table --help" valued="--workspace --candidate-ids --target --ref --graph-doc --branch -w" ;;
    "think pack") offered="--workspace --target --ref --graph-doc --limit-cards --max-chars --max-bytes --max-lines --branch -w --home --table --help" valued="--workspace --target --ref --graph-doc --limit-cards --max-chars --max-bytes --max-lines --branch -w" ;;
    "think pin") offered="--workspace --ids --pinned --target --ref --graph-doc --branch --no-pinned -w --home --table --help" valued="--workspace --ids --target --ref --graph-doc --branch -w" ;;
    "think pins") offered="--workspace --target --ref --graph-doc --cursor --limit --max-chars --max-bytes --max-lines --branch -w --home --table --help" valued="--workspace --target --ref --graph-doc --cursor --limit --max-chars --max-bytes --max-lines --branch -w" ;;
    "think playbook") offered="--workspace --name --max-chars --max-bytes --max-lines -w --home --table --help" valued="--workspace --name --max-chars --max-bytes --max-lines -w" ;;
    "think query") offered="--workspace --target --ref --graph-doc --ids --types --status --tags-any --tags-all --text --cursor --limit --max-chars --max-bytes --max-lines --branch -w --home --table --help" valued="--workspace --target --ref --graph-doc --ids --types --status --tags-any --tags-all --text --cursor --limit --max-chars --max-bytes --max-lines --branch -w" ;;
    "think set-status") offered="--workspace --ids --status --target --ref --graph-doc --branch -w --home --table --help" valued="--workspace --ids --status --target --ref --graph-doc --branch -w" ;;
    "think subgoal-close") offered="--workspace --subgoal-id --return-card --target --ref --graph-doc --branch -w --home --table --help" valued="--workspace --subgoal-id --return-card --target --ref --graph-doc --branch -w" ;;
    "think subgoal-open") offered="--workspace --question-id --title --text --target --ref --graph-doc --branch -w --home --table --help" valued="--workspace --question-id --title --text --target --ref --graph-doc --branch -w" ;;
    "think template") offered="--workspace --type --max-chars --max-bytes --max-lines -w --home --table --help" valued="--workspace --type --max-chars --max-bytes --max-lines -w" ;;
    "think watch") offered="--workspace --target --ref --graph-doc --trace-doc --limit --trace-limit --max-chars --max-bytes --max-lines --branch -w --home --table --help" valued="--workspace --target --ref --graph-doc --trace-doc --limit --trace-limit --max-chars --max-bytes --max-lines --branch -w" ;;
    "trace hydrate") offered="--workspace --target --ref --doc --cursor --limit --max-chars --max-bytes --max-lines --branch -w --home --table --help" valued="--workspace --target --ref --doc --cursor --limit --max-chars --max-bytes --max-lines --branch -w" ;;
    "trace sequential-step") offered="--workspace --thought --thought-number --total-thoughts --next-thought-needed --is-revision --revises-thought --branch-from-thought --branch-id --meta --target --ref --doc --branch --file -w --home --table --help" valued="--workspace --thought --thought-number --total-thoughts --revises-thought --branch-from-thought --branch-id --meta --target --ref --doc --branch --file -w" ;;
    "trace step") offered="--workspace --step --message --mode --supports --blocks --meta --target --ref --doc --branch -w --home --table --help" valued="--workspace --step --message --mode --supports --blocks --meta --target --ref --doc --branch -w" ;;
    "trace validate") offered="--workspace --target --ref --doc --max-chars --max-bytes --max-lines --branch -w --home --table --help" valued="--workspace --target --ref --doc --max-chars --max-bytes --max-lines --branch -w" ;;
    "artifact") offered="bulk-delete bulk-update compose delete fetch kinds list store touch" ;;
    "branch") offered="checkout create delete init list rename status" ;;
    "capsule") offered="append bulk-delete bulk-update compose delete export fetch fetch-many import inventory latest list purge restore search store update" ;;
    "graph") offered="apply conflict-resolve conflict-show conflicts diff draw merge query validate" ;;
    "history") offered="commit log reflog reset tag-create tag-delete tag-list" ;;
    "notes") offered="add diff docs export merge show" ;;
    "record") offered="capabilities entities find migrate submit timeline" ;;
    "task") offered="block board complete create decompose define delete delta done edit evidence focus handoff list note radar reopen verify" ;;
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
    "help --command") offered="append backup bulk-delete bulk-update completion compose config delete doctor export fetch fetch-many help import index inventory latest list mcp purge restore search store tour update artifact branch capsule graph history notes record task think trace" ;;
    "import --path") files=1 ;;
    "import --mode") offered="error replace rename" ;;
    "mcp --toolsets") offered="capsule artifact reasoning task record core" ;;
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
