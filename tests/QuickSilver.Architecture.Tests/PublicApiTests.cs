using System.ComponentModel;
using System.Reflection;
using PublicApiGenerator;
using QuickSilver.Architecture.Tests.Reading;

namespace QuickSilver.Architecture.Tests;

// What users can see changes on purpose only: it is kept as text beside these tests, one file per assembly.
public sealed class PublicApiTests
{
    private const string AcceptVariable = "QS_ACCEPT_API";

    // Extension methods stand in the namespaces of what they extend, also in those of the framework.
    private static readonly ApiGeneratorOptions Options = new() { IncludeAssemblyAttributes = false, DenyNamespacePrefixes = [] };

    public static TheoryData<string> Names() => [.. Assemblies.Shipped.Select(a => a.GetName().Name!)];

    [Theory]
    [MemberData(nameof(Names))]
    public void The_public_face_is_what_was_agreed(string assembly)
    {
        var path = Path.Combine(Repository.Root, "tests", "QuickSilver.Architecture.Tests", "PublicApi", assembly + ".txt");
        var actual = Assemblies.Named(assembly).GeneratePublicApi(Options).ReplaceLineEndings("\n").TrimEnd() + "\n";
        if (Environment.GetEnvironmentVariable(AcceptVariable) == "1")
        {
            File.WriteAllText(path, actual);
        }

        var agreed = File.Exists(path) ? File.ReadAllText(path).ReplaceLineEndings("\n") : "";
        Assert.True(agreed == actual, $"""
            The public face of {assembly} changed:
            {Difference(agreed, actual)}
            If that is meant, run these tests with {AcceptVariable}=1 and commit the file.
            """);
    }

    [Fact]
    public void Members_for_generated_code_are_hidden_from_completion_lists() => Violations.AssertNone(
        from type in Assemblies.Named("QuickSilver.Serialization").GetExportedTypes()
        let isForUsers = type.Namespace is "QuickSilver.Serialization" or "QuickSilver"
        let isHidden = type.GetCustomAttribute<EditorBrowsableAttribute>()?.State == EditorBrowsableState.Never
        where isForUsers == isHidden
        select $"{type.FullName} is {(isHidden ? "hidden" : "not hidden")}");

    private static string Difference(string agreed, string actual)
    {
        var (before, after) = (agreed.Split('\n'), actual.Split('\n'));
        var gone = before.Except(after).Select(l => "- " + l);
        var added = after.Except(before).Select(l => "+ " + l);
        var lines = gone.Concat(added).ToList();
        return lines.Count > 0 ? string.Join('\n', lines) : "(the same lines in another order or number)";
    }
}
