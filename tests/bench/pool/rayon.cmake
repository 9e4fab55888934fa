# rayon from Debian's crates. Whether the compiler at hand can build them shows only when
# it tries, so it tries now: a failure leaves the peer out instead of ending the build.
find_program(BZ_CARGO cargo DOC "Builds the rayon benchmark")
set(BZ_CARGO_REGISTRY /usr/share/cargo/registry CACHE PATH "Where Debian keeps crates")

file(GLOB crates "${BZ_CARGO_REGISTRY}/rayon-[0-9]*")
set(crate "${CMAKE_CURRENT_BINARY_DIR}/rayon")
set(archive "${crate}/target/release/libbench_rayon.a")
# What the user has set for other projects must not decide how this one is optimised.
set(cargo "${CMAKE_COMMAND}" -E env --unset=RUSTFLAGS --unset=CARGO_ENCODED_RUSTFLAGS
  --unset=CARGO_BUILD_TARGET
  "${BZ_CARGO}" build --release --offline --quiet --target-dir "${crate}/target")

if(NOT BZ_CARGO)
  bench_missing(rayon "no cargo")
elseif(NOT crates)
  bench_missing(rayon "no librust-rayon-dev")
else()
  configure_file(pool/Cargo.toml.in "${crate}/Cargo.toml" @ONLY)
  configure_file(pool/cargo-config.toml.in "${crate}/.cargo/config.toml" @ONLY)
  execute_process(COMMAND ${cargo} WORKING_DIRECTORY "${crate}"
    RESULT_VARIABLE failed OUTPUT_FILE "${crate}/log" ERROR_FILE "${crate}/log")
  if(failed)
    bench_missing(rayon "cargo failed, see ${crate}/log")
  else()
    # Found here, not at build time: the version is the newest one Debian has.
    file(STRINGS "${crate}/Cargo.lock" lock)
    string(REGEX MATCH "name = \"rayon\";version = \"([0-9.]+)\"" found "${lock}")
    execute_process(COMMAND "${BZ_CARGO}" --version WORKING_DIRECTORY "${crate}"
      OUTPUT_VARIABLE cargo_version OUTPUT_STRIP_TRAILING_WHITESPACE)
    add_custom_command(OUTPUT "${archive}"
      COMMAND ${cargo} DEPENDS pool/bench_rayon.rs "${crate}/Cargo.toml"
      WORKING_DIRECTORY "${crate}" VERBATIM)
    bench_peer(rayon "rayon ${CMAKE_MATCH_1}, ${cargo_version}"
      SOURCES pool/bench_rayon.c "${archive}"
      LIBS bz_flags "${archive}" gcc_s util rt m ${CMAKE_DL_LIBS})
  endif()
endif()
