using System.Reflection;
using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;

namespace QuickSilver.Architecture.Tests.Reading;

// Of which other assemblies of this repository a compiled assembly names what is not public. It is read without being loaded, from a
// folder that has those that it uses beside it.
internal static class InternalUses
{
    public static IReadOnlySet<string> OwnersOf(string file)
    {
        using var image = new PEReader(File.OpenRead(file));
        var metadata = image.GetMetadataReader();
        var seen = new Dictionary<string, AssemblySurface>();
        var owners = new HashSet<string>();
        foreach (var handle in metadata.TypeReferences)
        {
            Add(handle, member: null);
        }

        foreach (var handle in metadata.MemberReferences)
        {
            var member = metadata.GetMemberReference(handle);
            if (DeclaringType(metadata, member.Parent) is { } type)
            {
                Add(type, metadata.GetString(member.Name));
            }
        }

        return owners;

        void Add(TypeReferenceHandle handle, string? member)
        {
            var (owner, type) = Named(metadata, handle);
            string path = Path.Combine(Path.GetDirectoryName(file)!, owner + ".dll");
            if (!owners.Contains(owner) && IsOurs(owner) && File.Exists(path))
            {
                var surface = seen.TryGetValue(owner, out var known) ? known : seen[owner] = new AssemblySurface(path);
                if (!surface.IsPublic(type, member))
                {
                    owners.Add(owner);
                }
            }
        }
    }

    private static bool IsOurs(string assembly) => assembly == "qsm" || assembly.StartsWith("QuickSilver", StringComparison.Ordinal);

    private static (string Owner, string Type) Named(MetadataReader metadata, TypeReferenceHandle handle)
    {
        var type = metadata.GetTypeReference(handle);
        string name = metadata.GetString(type.Name);
        while (type.ResolutionScope.Kind == HandleKind.TypeReference)
        {
            type = metadata.GetTypeReference((TypeReferenceHandle)type.ResolutionScope);
            name = $"{metadata.GetString(type.Name)}+{name}";
        }

        string owner = type.ResolutionScope.Kind == HandleKind.AssemblyReference
            ? metadata.GetString(metadata.GetAssemblyReference((AssemblyReferenceHandle)type.ResolutionScope).Name)
            : "";
        return (owner, $"{metadata.GetString(type.Namespace)}.{name}");
    }

    // A member of a generic type is named with the type's arguments.
    private static TypeReferenceHandle? DeclaringType(MetadataReader metadata, EntityHandle parent)
    {
        if (parent.Kind == HandleKind.TypeReference)
        {
            return (TypeReferenceHandle)parent;
        }

        if (parent.Kind != HandleKind.TypeSpecification)
        {
            return null;
        }

        var signature = metadata.GetBlobReader(metadata.GetTypeSpecification((TypeSpecificationHandle)parent).Signature);
        if (signature.ReadSignatureTypeCode() != SignatureTypeCode.GenericTypeInstance)
        {
            return null;
        }

        signature.ReadByte();
        var generic = signature.ReadTypeHandle();
        return generic.Kind == HandleKind.TypeReference ? (TypeReferenceHandle)generic : null;
    }

    // What others may use of an assembly without being its friend.
    private sealed class AssemblySurface
    {
        private readonly HashSet<string> _types = [];
        private readonly HashSet<(string Type, string Member)> _members = [];
        private readonly HashSet<(string Type, string Member)> _publicMembers = [];
        private readonly HashSet<string> _publicTypes = [];

        public AssemblySurface(string file)
        {
            using var image = new PEReader(File.OpenRead(file));
            var metadata = image.GetMetadataReader();
            foreach (var handle in metadata.TypeDefinitions)
            {
                Add(metadata, metadata.GetTypeDefinition(handle));
            }
        }

        // One that is not found is not ours to judge.
        public bool IsPublic(string type, string? member) =>
            (!_types.Contains(type) || _publicTypes.Contains(type))
            && (member is null || !_members.Contains((type, member)) || _publicMembers.Contains((type, member)));

        private void Add(MetadataReader metadata, TypeDefinition type)
        {
            var (name, isPublic) = Describe(metadata, type);
            _types.Add(name);
            if (isPublic)
            {
                _publicTypes.Add(name);
            }

            foreach (var method in type.GetMethods().Select(metadata.GetMethodDefinition))
            {
                Add(name, metadata.GetString(method.Name), (int)(method.Attributes & MethodAttributes.MemberAccessMask));
            }

            foreach (var field in type.GetFields().Select(metadata.GetFieldDefinition))
            {
                Add(name, metadata.GetString(field.Name), (int)(field.Attributes & FieldAttributes.FieldAccessMask));
            }
        }

        // Fields and methods have the same numbers for the same access.
        private void Add(string type, string member, int access)
        {
            _members.Add((type, member));
            if ((MethodAttributes)access is MethodAttributes.Public or MethodAttributes.Family or MethodAttributes.FamORAssem)
            {
                _publicMembers.Add((type, member));
            }
        }

        private static (string Name, bool IsPublic) Describe(MetadataReader metadata, TypeDefinition type)
        {
            bool isPublic = (type.Attributes & TypeAttributes.VisibilityMask)
                is TypeAttributes.Public or TypeAttributes.NestedPublic or TypeAttributes.NestedFamily or TypeAttributes.NestedFamORAssem;
            string name = metadata.GetString(type.Name);
            if (type.GetDeclaringType().IsNil)
            {
                return ($"{metadata.GetString(type.Namespace)}.{name}", isPublic);
            }

            var outer = Describe(metadata, metadata.GetTypeDefinition(type.GetDeclaringType()));
            return ($"{outer.Name}+{name}", isPublic && outer.IsPublic);
        }
    }
}
