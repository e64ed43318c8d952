// An example of every section of a scene, as it stands in a file.
#pragma once

/// The section's example, whole lines from the top level of the file on; NULL if the name is not
/// one of a section. With a domain, where it has none of its own, it is a whole scene.
const char* schema_example(const char* section);
