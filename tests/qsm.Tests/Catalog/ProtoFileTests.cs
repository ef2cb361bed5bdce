using System.Diagnostics;
using System.Reflection;
using System.Text;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Generators.Tests.Contracts;
using QuickSilver.Generators.Tests.Infrastructure;
using QuickSilver.Membership.Contracts;
using QuickSilver.Serialization.Generated;
using QuickSilver.Tool.Catalog.Sources;

namespace QuickSilver.Tool.Tests.Catalog;

// The proto3 file that the shell prints for a topic, as protobuf's own compiler takes it.
public sealed class ProtoFileTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("proto-").FullName;

    [Fact]
    public void The_compiler_reads_and_writes_the_bytes_of_the_codecs()
    {
        Holds(new Displayed(
            Doors.Left | Doors.Rear, Largest.All, new() { ['5'] = Doors.Right }, [new DateOnly(2026, 1, 31), new DateOnly(1, 1, 1)],
            new TimeOnly(12, 30, 15, 500), 'x', Color.Green, Wide.Below, "", new Uri("https://example.org/"), -7, (Half)0.5, [1, 0]));
        Holds(new Times(
            -12.50m, Guid.Parse("12345678-2345-3456-4567-56789a6789ab"), new DateTime(2026, 1, 31, 12, 30, 15), DateTimeOffset.UnixEpoch,
            TimeSpan.FromMilliseconds(1))
        {
            MaybePrice = 0,
            Prices = [1m, 2.5m],
            Delays = { ["a"] = TimeSpan.FromDays(3) },
        });
        Holds(new Tree { Name = "root", Children = { new Tree { Name = "leaf" } } });
    }

    [Fact]
    public void Enums_have_their_names_and_what_may_be_null_is_optional()
    {
        string text = Text<Displayed>();
        Assert.Contains("  optional .Color Color = 7;\n", text);
        Assert.Contains("enum Color {\n  Color_None = 0;\n  Color_Red = 1;\n  Color_Green = 2;\n}\n", text);
        Assert.Contains("  optional string Note = 9;\n", text);
        Assert.Contains("  repeated int32 Days = 4 [packed = false];  // Days since January 1, 0001.\n", text);
        // What does not fit into an enum of protobuf is an integer.
        Assert.Contains("  int64 Wide = 8;\n", text);
    }

    [Fact]
    public void Subtypes_are_a_oneof()
    {
        string text = Text<Movement>();
        Assert.Contains("  // The subtypes: a value has one of them.\n  oneof subtype {\n", text);
        Assert.Contains("    .Deposit Deposit = ", text);
        Holds<Movement>(new Deposit("a", 12.5m) { Version = 7 });
    }

    // For a map, the compiler defines a type: a field Log has LogEntry.
    [Fact]
    public void A_map_has_a_name_that_leaves_the_name_of_its_entries_to_the_compiler()
    {
        const string map = "map<string, int32>";
        var contract = new ContractDescription
        {
            TypeName = "Book",
            Kind = "message",
            Guarantee = "Reliable",
            Fields =
            [
                new(1, "Log", map), new(2, "LogEntry", "string"), new(3, "page_entry", "string"), new(4, "page", map),
                new(5, "PageEntry", map),
            ],
        };
        string text = ProtoFile.Of("topic", contract, null);
        Run([], $"--descriptor_set_out={Path.Combine(_folder, "set")}", Save("map.proto", text));
        Assert.Contains($"  {map} Log = 1;\n  string LogEntry2 = 2;\n", text);
    }

    [Fact]
    public void The_text_for_any_contract_is_valid() => Prop.ForAll(
        (from topic in Gen.Elements(CSharpStubTests.Names)
         from contracts in CSharpStubTests.Contracts.ListOf(4)
         select (topic, contracts)).ToArbitrary(),
        one =>
        {
            string[] files = [.. one.contracts.Select((contract, at) => Save($"c{at}.proto", ProtoFile.Of(one.topic, contract, "Demo")))];
            // Each alone: files that are compiled together share their names.
            foreach (string file in files)
            {
                Run([], $"--descriptor_set_out={Path.Combine(_folder, "set")}", file);
            }
        }).Check(Config.QuickThrowOnFailure.WithMaxTest(10));

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    private void Holds<T>(T value)
    {
        string file = Save("one.proto", Text<T>());
        byte[] bytes = Codecs.Encode(value);
        byte[] text = Run(bytes, $"--decode={typeof(T).Name}", file);
        byte[] again = Run(text, $"--encode={typeof(T).Name}", file);
        // The compiler writes lists of numbers in the form that the file says, which the codec reads as well.
        Assert.Equal(bytes, Codecs.Encode(Codecs.Decode<T>(again)));
    }

    private static string Text<T>()
    {
        Assert.True(GeneratedCodecs.TryGet<T>(out var codec));
        return ProtoFile.Of("topic", SchemaContract.Of(codec.Schema), null);
    }

    private string Save(string name, string text)
    {
        string path = Path.Combine(_folder, name);
        // A name that is not valid Unicode has a replacement.
        File.WriteAllBytes(path, Encoding.UTF8.GetBytes(text));
        return path;
    }

    private byte[] Run(byte[] input, params string[] arguments)
    {
        string compiler = typeof(ProtoFileTests).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
            .Single(static one => one.Key == "ProtobufCompiler").Value!;
        var start = new ProcessStartInfo(compiler, [$"--proto_path={_folder}", .. arguments])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        using var process = Process.Start(start)!;
        process.StandardInput.BaseStream.Write(input);
        process.StandardInput.Close();
        var complaints = process.StandardError.ReadToEndAsync();
        using var output = new MemoryStream();
        process.StandardOutput.BaseStream.CopyTo(output);
        process.WaitForExit();
        Assert.True(process.ExitCode == 0, $"{complaints.Result}\n{File.ReadAllText(arguments[^1])}");
        return output.ToArray();
    }
}
