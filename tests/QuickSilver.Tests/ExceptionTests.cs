using QuickSilver.Serialization;

namespace QuickSilver.Tests;

public sealed class ExceptionTests
{
    [Fact]
    public void All_exceptions_of_the_library_have_one_base()
    {
        var types = new[] { typeof(QuickSilverNode), typeof(PayloadFormatException) }
            .SelectMany(static type => type.Assembly.GetExportedTypes())
            .Where(static type => type.IsSubclassOf(typeof(Exception)) && !type.IsAbstract)
            .ToArray();
        Assert.True(types.Length >= 7, "There are fewer exceptions than the test knows.");
        Assert.All(
            types, static type => Assert.Contains(type.BaseType, (Type[])[typeof(QuickSilverException), typeof(RequestException)]));
        Assert.Equal(typeof(QuickSilverException), typeof(RequestException).BaseType);
    }
}
