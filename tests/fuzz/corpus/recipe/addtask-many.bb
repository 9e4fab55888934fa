addtask a after b before c after d before e after f
addtask a:append_b
