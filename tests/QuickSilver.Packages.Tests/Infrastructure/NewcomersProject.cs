namespace QuickSilver.Packages.Tests.Infrastructure;

// What `dotnet new` and `dotnet add package` write.
internal static class NewcomersProject
{
    public enum Kind
    {
        Program,
        Library,
        Web,
    }

    public static void Write(string folder, string name, Kind kind, params (string Id, string Version)[] packages)
    {
        var references = packages.Select(one => $"""    <PackageReference Include="{one.Id}" Version="{one.Version}" />""");
        File.WriteAllText(Path.Combine(folder, name + ".csproj"), $"""
            <Project Sdk="Microsoft.NET.Sdk{(kind == Kind.Web ? ".Web" : "")}">
              <PropertyGroup>
                <TargetFramework>net10.0</TargetFramework>{(kind == Kind.Program ? "<OutputType>Exe</OutputType>" : "")}
                <ImplicitUsings>enable</ImplicitUsings>
                <Nullable>enable</Nullable>
              </PropertyGroup>
              <ItemGroup>
            {string.Join('\n', references)}
              </ItemGroup>
            </Project>
            """);
    }
}
