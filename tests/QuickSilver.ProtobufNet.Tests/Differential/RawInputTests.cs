using System.Text;

namespace QuickSilver.ProtobufNet.Tests.Differential;

// Bytes that other writers may send, or that none should: each library reads them as the generated codec does, or raw-inputs.txt says
// which does not, and why.
public sealed class RawInputTests
{
    private static readonly RawInput[] All = [.. Lines().Select(RawInput.Of)];

    public static TheoryData<string> Names() => new(All.Select(static input => input.Name));

    [Theory]
    [MemberData(nameof(Names))]
    public void Each_library_reads_the_same_or_the_table_says_why_not(string name)
    {
        var input = Assert.Single(All, one => one.Name == name);
        var shape = Shape.All.Single(one => one.Name == input.Contract);
        string ours = shape.Read(input.Bytes);
        Check(input, "protobuf-net", ours, shape.ReadByProtobufNet(input.Bytes));
        Check(input, "Google", ours, shape.ReadByGoogle(input.Bytes));
    }

    private static void Check(RawInput input, string library, string ours, string theirs)
    {
        bool isExplained = input.Differences.ContainsKey(library);
        Assert.True(
            (ours != theirs) == isExplained,
            $"{library} reads '{input.Name}' as {Text(theirs)}, the generated codec as {Text(ours)}. The table "
            + (isExplained ? "expects a difference." : "expects the same."));
    }

    private static string Text(string outcome) => outcome.Length == 0 ? "an empty message" : outcome;

    private static IEnumerable<string> Lines()
    {
        using var stream = typeof(RawInputTests).Assembly.GetManifestResourceStream("raw-inputs.txt")!;
        using var reader = new StreamReader(stream, Encoding.UTF8);
        return [.. reader.ReadToEnd().Split('\n').Where(static line => line.Length > 0 && line[0] != '#')];
    }

    private sealed record RawInput(string Name, string Contract, byte[] Bytes, IReadOnlyDictionary<string, string> Differences)
    {
        public static RawInput Of(string line)
        {
            string[] columns = [.. line.Split('|').Select(static column => column.Trim())];
            var differences = columns[3].Split(';', StringSplitOptions.RemoveEmptyEntries)
                .Select(static text => text.Split(':', 2))
                .ToDictionary(static pair => pair[0].Trim(), static pair => pair[1].Trim());
            return new RawInput(columns[0], columns[1], Convert.FromHexString(columns[2]), differences);
        }
    }
}
